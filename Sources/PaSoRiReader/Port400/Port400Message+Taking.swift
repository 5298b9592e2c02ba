// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Takes messages out of what a reader sends; total on any bytes.
typealias Port400MessageParser = TransferParser<Port400Message>

extension Port400Message: TransferMessage {
    /// Longer than any answer: the reader's longest message is 522 bytes.
    private static let longestData = 2048

    static func take(from bytes: inout [UInt8]) -> TransferOutcome<Port400Message> {
        var reader = ByteReader(bytes)
        guard let type = try? reader.readUInt8() else { return .incomplete }
        guard type == answerType else { return .damaged }
        guard let length = try? reader.readUInt32(.little) else { return .incomplete }
        guard length <= UInt32(longestData) else { return .damaged }
        guard let rest = try? reader.readBytes(5), let data = try? reader.readBytes(Int(length)) else {
            return .incomplete
        }
        let header = Array(rest)
        guard header.count == 5 else { return .damaged }
        let message = Port400Message(sequence: header[1], status: header[2], error: header[3], data: Array(data))
        bytes.removeFirst(reader.offset)
        return .message(message)
    }
}
