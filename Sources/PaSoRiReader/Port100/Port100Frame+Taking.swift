// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Takes frames out of what a reader sends; total on any bytes.
typealias Port100FrameParser = TransferParser<Port100Frame>

extension Port100Frame: TransferMessage {
    /// Longer than any answer: the chip's largest payload is about 1000 bytes.
    private static let longestData = 2048

    static func take(from bytes: inout [UInt8]) -> TransferOutcome<Port100Frame> {
        if let outcome = take(acknowledgeBytes, as: .acknowledge, from: &bytes) { return outcome }
        if let outcome = take(errorBytes, as: .error, from: &bytes) { return outcome }
        guard bytes.starts(with: dataStart) else {
            return dataStart.starts(with: bytes) ? .incomplete : .damaged
        }
        var reader = ByteReader(bytes.dropFirst(dataStart.count))
        guard let length = try? reader.readUInt16(.little), let lengthCheck = try? reader.readUInt8() else {
            return .incomplete
        }
        let low = UInt8(truncatingIfNeeded: length)
        guard checksum([low, UInt8(truncatingIfNeeded: length >> 8)]) == lengthCheck,
            Int(length) <= longestData, length > 0
        else { return .damaged }
        guard let data = try? reader.readBytes(Int(length)), let check = try? reader.readUInt8(),
            let end = try? reader.readUInt8()
        else { return .incomplete }
        guard checksum(data) == check, end == 0x00 else { return .damaged }
        bytes.removeFirst(dataStart.count + 3 + Int(length) + 2)
        return .message(.data(Array(data)))
    }

    /// nfcpy knows an error frame of five bytes, with which every frame of data begins.
    static func whole(_ transfer: [UInt8]) -> Port100Frame? { transfer == dataStart ? .error : nil }

    /// The frame that always has these bytes; `nil` when the bytes so far are something else.
    private static func take(
        _ whole: [UInt8], as frame: Port100Frame, from bytes: inout [UInt8]
    ) -> TransferOutcome<Port100Frame>? {
        if bytes.starts(with: whole) {
            bytes.removeFirst(whole.count)
            return .message(frame)
        }
        return whole.starts(with: bytes) ? .incomplete : nil
    }
}
