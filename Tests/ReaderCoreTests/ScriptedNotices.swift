// SPDX-License-Identifier: Apache-2.0

import ReaderCore

/// Notices that come in the order of a list, at once; after the last one work counts as cancelled.
final class ScriptedNotices: DeviceNotices {
    private var answers: ArraySlice<Bool>
    private(set) var waits: [Duration] = []

    init(_ answers: [Bool]) {
        self.answers = answers[...]
    }

    func wait(within time: Duration) throws(TransportError) -> Bool {
        waits.append(time)
        guard let answer = answers.popFirst() else { throw .cancelled }
        return answer
    }
}
