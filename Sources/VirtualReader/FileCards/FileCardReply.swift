// SPDX-License-Identifier: Apache-2.0

/// What a command leads to, before it is cut to what the reader expects.
struct FileCardReply: Hashable, Sendable {
    var data: [UInt8]
    var status: UInt16

    init(_ status: UInt16) {
        data = []
        self.status = status
    }

    init(_ data: [UInt8], _ status: UInt16 = StatusWord.success) {
        self.data = data
        self.status = status
    }

    var bytes: [UInt8] { data + [UInt8(truncatingIfNeeded: status >> 8), UInt8(truncatingIfNeeded: status)] }
}
