// SPDX-License-Identifier: Apache-2.0

/// A frame that a PN532 sends over its serial line (PN532 user manual UM0701-02, 6.2.1).
enum PN532Frame: Hashable, Sendable {
    /// The chip has accepted a command.
    case acknowledged
    /// The chip has rejected it.
    case refused
    /// The answer to a command: its code, which is the command's plus 1, and the bytes after it.
    case answer(code: UInt8, bytes: [UInt8])
    /// A start code without a valid frame after it.
    case damaged

    /// Confirms an answer; sent while a command runs, it aborts that.
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]

    /// Wakes a sleeping chip. The zeros give its clock time to start, 1.2 ms at 115200 baud.
    static let wakeUp: [UInt8] = [0x55, 0x55] + [UInt8](repeating: 0x00, count: 14)

    /// The most bytes that a frame carries, including the first one, which identifies the sender.
    static let longestContent = 265

    private static let (fromHost, fromChip, fault): (UInt8, UInt8, UInt8) = (0xD4, 0xD5, 0x7F)

    /// The frame of a command, starting with its code; an extended one when it is long.
    ///
    /// - Parameter preamble: what is sent before it. The command is copied once, so that the caller can overwrite it.
    static func encode(_ command: [UInt8], after preamble: [UInt8] = []) -> [UInt8] {
        let count = command.count + 1
        let low = UInt8(truncatingIfNeeded: count)
        let high = UInt8(truncatingIfNeeded: count >> 8)
        var frame = preamble
        frame.reserveCapacity(preamble.count + count + 10)
        frame += [0x00, 0x00, 0xFF]
        frame += high == 0 ? [low, 0 &- low] : [0xFF, 0xFF, high, low, 0 &- (high &+ low)]
        frame.append(fromHost)
        frame += command
        frame += [0 &- command.reduce(fromHost, &+), 0x00]
        return frame
    }

    /// Parses the content of a frame with valid checksums; `nil` for an echo of one of the host's own.
    fileprivate init?(content: ArraySlice<UInt8>) {
        guard let first = content.first else { return nil }
        let rest = content.dropFirst()
        switch (first, rest.first) {
        case (Self.fromChip, let code?): self = .answer(code: code, bytes: Array(rest.dropFirst()))
        case (Self.fault, nil): self = .refused
        case (Self.fromHost, _): return nil
        default: self = .damaged
        }
    }
}

/// Finds a chip's frames in a stream of bytes.
///
/// Bytes before a start code are skipped. The buffer never holds more than one frame and the bytes received with it.
struct PN532FrameParser: Sendable {
    private var buffer: [UInt8] = []
    /// Whether the postamble of the last frame has not come yet. Before a stray FF it would look like a start code.
    private var owesPostamble = false

    /// Appends received bytes.
    mutating func feed(_ bytes: [UInt8]) {
        buffer += bytes
    }

    /// Discards all received bytes.
    mutating func reset() {
        buffer = []
    }

    /// The next frame, or `nil` when more bytes are needed.
    mutating func next() -> PN532Frame? {
        skipPostamble()
        while let start = startCode() {
            buffer.removeFirst(start)
            switch Self.read(buffer.dropFirst(2)) {
            case .incomplete: return nil
            case .damaged:
                // The length itself may be damaged, so the bytes after it are searched again.
                buffer.removeFirst(2)
                return .damaged
            case .frame(let frame, let length):
                buffer.removeFirst(2 + length)
                owesPostamble = true
                skipPostamble()
                if let frame { return frame }
            }
        }
        // A final 00 may be the first half of a start code.
        buffer = buffer.last == 0x00 ? [0x00] : []
        return nil
    }

    private mutating func skipPostamble() {
        guard owesPostamble, let first = buffer.first else { return }
        owesPostamble = false
        if first == 0x00 { buffer.removeFirst() }
    }

    private func startCode() -> Int? {
        zip(buffer, buffer.dropFirst()).enumerated().first { $0.element == (0x00, 0xFF) }?.offset
    }

    private enum Reading {
        case incomplete
        case damaged
        case frame(PN532Frame?, length: Int)
    }

    /// Reads the bytes after a start code, up to the checksum.
    private static func read(_ bytes: ArraySlice<UInt8>) -> Reading {
        let header = Array(bytes.prefix(5))
        guard header.count >= 2 else { return .incomplete }
        switch (header[0], header[1]) {
        case (0x00, 0xFF): return .frame(.acknowledged, length: 2)
        case (0xFF, 0x00): return .frame(.refused, length: 2)
        case (0xFF, 0xFF):
            guard header.count == 5 else { return .incomplete }
            guard header[2] &+ header[3] &+ header[4] == 0 else { return .damaged }
            return content(bytes, from: 5, count: Int(header[2]) << 8 | Int(header[3]))
        default:
            guard header[0] &+ header[1] == 0 else { return .damaged }
            return content(bytes, from: 2, count: Int(header[0]))
        }
    }

    private static func content(_ bytes: ArraySlice<UInt8>, from start: Int, count: Int) -> Reading {
        guard (1...PN532Frame.longestContent).contains(count) else { return .damaged }
        let content = bytes.dropFirst(start).prefix(count + 1)
        guard content.count == count + 1 else { return .incomplete }
        guard content.reduce(0, &+) == 0 else { return .damaged }
        return .frame(PN532Frame(content: content.dropLast()), length: start + count + 1)
    }
}
