// SPDX-License-Identifier: Apache-2.0

import ByteCodec
internal import VirtualCards

/// Finds the host's frames in an arbitrary stream of bytes.
///
/// Bytes before a start code are skipped, so wake-up bytes, preambles of any length and noise need no special rule. A
/// frame with a wrong checksum gets no answer from a PN53x: it is counted and dropped.
package struct HostFrameParser: Sendable {
    private var buffer: [UInt8] = []
    private(set) var damagedFrames = 0
    /// How many bytes have been parsed in all, skipped ones included.
    private(set) var parsed = 0

    package init() {}

    /// Whether the buffer holds the beginning of a frame without its end.
    var isMidFrame: Bool { buffer.count > 1 }

    /// Appends received bytes.
    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// Treats the start code at the front as noise, since the rest of its frame does not come.
    mutating func skipStartCode() {
        parsed &+= min(2, buffer.count)
        buffer.removeFirst(min(2, buffer.count))
    }

    /// The next complete frame, or `nil` when more bytes are needed.
    package mutating func next() -> HostFrame? {
        var start = 0
        defer {
            parsed &+= min(start, buffer.count)
            buffer.removeFirst(min(start, buffer.count))
        }
        while let code = startCode(from: start) {
            let body = buffer[(code + 2)...]
            switch Self.parse(body) {
            case .incomplete:
                start = code
                return nil
            case .damaged:
                // The bytes after it are searched again: the length itself may be damaged.
                damagedFrames &+= 1
                start = code + 2
            case .frame(let frame, let length):
                start = code + 2 + length
                if let frame { return frame }
            }
        }
        // A final 00 may be the first half of a start code.
        start = buffer.last == 0x00 ? max(start, buffer.count - 1) : buffer.count
        return nil
    }

    private func startCode(from start: Int) -> Int? {
        guard start < buffer.count else { return nil }
        return buffer.indices[start...].first { buffer[$0] == 0x00 && buffer.element(at: $0 + 1) == 0xFF }
    }

    private enum Parsed {
        case incomplete
        case damaged
        case frame(HostFrame?, length: Int)
    }

    /// Reads the bytes after a start code; the postamble is left, since it looks like another frame's preamble.
    private static func parse(_ body: ArraySlice<UInt8>) -> Parsed {
        guard let length = body.element(at: 0), let check = body.element(at: 1) else { return .incomplete }
        switch (length, check) {
        case (0x00, 0xFF): return .frame(.acknowledge, length: 2)
        case (0xFF, 0x00): return .frame(.notAcknowledge, length: 2)
        case (0xFF, 0xFF):
            guard let high = body.element(at: 2), let low = body.element(at: 3), let check = body.element(at: 4)
            else { return .incomplete }
            let size = Int(high) << 8 | Int(low)
            guard high &+ low &+ check == 0, size > 0, size <= PN532Frame.longestData else { return .damaged }
            return data(of: body.dropFirst(5), size: size, header: 5)
        default:
            guard length &+ check == 0, length > 0 else { return .damaged }
            return data(of: body.dropFirst(2), size: Int(length), header: 2)
        }
    }

    private static func data(of rest: ArraySlice<UInt8>, size: Int, header: Int) -> Parsed {
        guard rest.count > size else { return .incomplete }
        guard PN532Frame.sum(rest.prefix(size + 1)) == 0 else { return .damaged }
        // Only frames to the chip carry D4; an echo of its own answers is ignored.
        guard rest.first == 0xD4 else { return .frame(nil, length: header + size + 1) }
        return .frame(.command(Array(rest.prefix(size).dropFirst())), length: header + size + 1)
    }
}

/// A host's message on the serial line.
package enum HostFrame: Hashable, Sendable {
    /// The answer was received, or the running command is aborted.
    case acknowledge
    /// Requests the last answer again.
    case notAcknowledge
    /// A command code and its parameters; empty when there is no code.
    case command([UInt8])
}

/// The frames of the PN53x host link.
///
/// Layouts and limits as in libnfc (`libnfc/chips/pn53x.c`) and nfcpy (`nfc/clf/pn53x.py`).
package enum PN532Frame {
    /// The maximum number of bytes in a frame, the frame identifier included.
    static let longestData = 265

    /// The other side accepted the frame; from the host it also aborts a running command.
    static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]

    /// Requests the other side's last frame again.
    static let notAcknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00]

    /// The chip's answer to a command that it cannot parse.
    package static let syntaxError = encode([0x7F])

    /// Wraps frame identifier, command code and parameters; a normal frame up to 255 bytes, an extended one beyond.
    package static func encode(_ data: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x00, 0x00, 0xFF]
        if data.count <= 0xFF {
            let length = UInt8(truncatingIfNeeded: data.count)
            frame += [length, 0 &- length]
        } else {
            let high = UInt8(truncatingIfNeeded: data.count >> 8)
            let low = UInt8(truncatingIfNeeded: data.count)
            frame += [0xFF, 0xFF, high, low, 0 &- (high &+ low)]
        }
        return frame + data + [0 &- sum(data), 0x00]
    }

    /// The sum of bytes modulo 256; a field and its checksum give 0.
    static func sum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0, &+)
    }
}
