// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// Takes frames out of what a reader sends, a transfer at a time; total on any bytes.
struct Port100FrameParser: Sendable {
    /// What the bytes so far begin with.
    enum Outcome: Hashable, Sendable {
        /// A whole frame, which is taken away.
        case frame(Port100Frame)
        /// The beginning of a frame, or nothing.
        case incomplete
        /// Something that is no frame; everything is thrown away.
        case damaged
    }

    /// Longer than any answer: the chip's largest payload is about 1000 bytes.
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

    /// Takes the next frame.
    mutating func next() -> Outcome {
        if bytes.isEmpty { return .incomplete }
        if let outcome = take(Port100Frame.acknowledgeBytes, as: .acknowledge) { return outcome }
        if let outcome = take(Port100Frame.errorBytes, as: .error) { return outcome }
        guard bytes.starts(with: Port100Frame.dataStart) else {
            return Port100Frame.dataStart.starts(with: bytes) ? .incomplete : damaged()
        }
        var reader = ByteReader(bytes.dropFirst(Port100Frame.dataStart.count))
        guard let length = try? reader.readUInt16(.little), let lengthCheck = try? reader.readUInt8() else {
            return .incomplete
        }
        let low = UInt8(truncatingIfNeeded: length)
        guard Port100Frame.checksum([low, UInt8(truncatingIfNeeded: length >> 8)]) == lengthCheck,
            Int(length) <= Self.longestData, length > 0
        else { return damaged() }
        guard let data = try? reader.readBytes(Int(length)), let check = try? reader.readUInt8(),
            let end = try? reader.readUInt8()
        else { return .incomplete }
        guard Port100Frame.checksum(data) == check, end == 0x00 else { return damaged() }
        bytes.removeFirst(Port100Frame.dataStart.count + 3 + Int(length) + 2)
        return .frame(.data(Array(data)))
    }

    /// The frame that always has these bytes; `nil` when the bytes so far are something else.
    private mutating func take(_ whole: [UInt8], as frame: Port100Frame) -> Outcome? {
        if bytes.starts(with: whole) {
            bytes.removeFirst(whole.count)
            return .frame(frame)
        }
        return whole.starts(with: bytes) ? .incomplete : nil
    }

    private mutating func damaged() -> Outcome {
        bytes = []
        return .damaged
    }
}
