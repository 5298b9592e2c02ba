// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Takes messages out of what a reader sends, a transfer at a time; total on any bytes.
struct Port400MessageParser: Sendable {
    /// What the bytes so far begin with.
    enum Outcome: Hashable, Sendable {
        /// A whole message, which is taken away.
        case message(Port400Message)
        /// The beginning of a message, or nothing.
        case incomplete
        /// Something that is no message; everything is thrown away.
        case damaged
    }

    /// Longer than any answer: the reader's longest message is 522 bytes.
    static let longestData = 2048

    private var bytes: [UInt8] = []

    /// Adds what came.
    mutating func feed(_ more: [UInt8]) {
        bytes += more
    }

    /// Forgets what came.
    mutating func reset() {
        bytes = []
    }

    /// Takes the next message.
    mutating func next() -> Outcome {
        var reader = ByteReader(bytes)
        guard let type = try? reader.readUInt8() else { return .incomplete }
        guard type == Port400Message.answerType else { return damaged() }
        guard let length = try? reader.readUInt32(.little) else { return .incomplete }
        guard length <= UInt32(Self.longestData) else { return damaged() }
        guard let rest = try? reader.readBytes(5), let data = try? reader.readBytes(Int(length)) else {
            return .incomplete
        }
        let header = Array(rest)
        guard header.count == 5 else { return damaged() }
        let message = Port400Message(sequence: header[1], status: header[2], error: header[3], data: Array(data))
        bytes.removeFirst(reader.offset)
        return .message(message)
    }

    private mutating func damaged() -> Outcome {
        bytes = []
        return .damaged
    }
}
