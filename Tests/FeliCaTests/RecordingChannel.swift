// SPDX-License-Identifier: Apache-2.0

import FeliCa
import ReaderCore

/// A channel that notes what is sent and gives prepared answers, one after another.
final class RecordingChannel: CardChannel {
    private(set) var sent: [[UInt8]] = []
    private(set) var timeouts: [Duration] = []
    private var answers: [Result<[UInt8], TransportError>]

    init(_ answers: [[UInt8]]) {
        self.answers = answers.map { .success($0) }
    }

    init(failing error: TransportError) {
        answers = [.failure(error)]
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        sent.append(frame)
        timeouts.append(timeout)
        guard !answers.isEmpty else { throw .outOfScript(detail: .init(.text, "no answer prepared")) }
        return try answers.removeFirst().get()
    }
}
