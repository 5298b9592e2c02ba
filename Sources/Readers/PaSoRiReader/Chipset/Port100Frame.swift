// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// A frame on the USB between a Port-100 and its host.
///
/// `00 00 FF FF FF LEN LCS data DCS 00`: LEN is two bytes, little-endian; LCS makes the sum of LEN's bytes zero, DCS
/// that of the data. Sources: the kernel's `drivers/nfc/port100.c`, nfcpy's `rcs380.py`.
enum Port100Frame: Hashable, Sendable {
    /// From the reader: the command was received. From the host: abort the running command.
    case acknowledge
    /// The reader could not read the command.
    case error
    /// A command or an answer, starting with D6 or D7.
    case data([UInt8])

    /// The bytes of ``acknowledge``.
    static let acknowledgeBytes: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// The bytes of ``error``.
    static let errorBytes: [UInt8] = [0x00, 0x00, 0xFF, 0x01, 0xFF, 0x7F, 0x81, 0x00]
    /// The beginning of ``data``.
    static let dataStart: [UInt8] = [0x00, 0x00, 0xFF, 0xFF, 0xFF]

    /// The frame around data of at most 65535 bytes.
    static func encode(_ data: [UInt8]) -> [UInt8] {
        let length = [UInt8(truncatingIfNeeded: data.count), UInt8(truncatingIfNeeded: data.count >> 8)]
        return dataStart + length + [checksum(length)] + data + [checksum(data), 0x00]
    }

    /// The byte that makes the sum zero.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt8 {
        0 &- bytes.reduce(0, &+)
    }
}

/// Extracts frames from a reader's transfers; total on any bytes.
typealias Port100FrameParser = TransferParser<Port100Frame>

extension Port100Frame: TransferMessage {
    /// Longer than any answer: the chip's largest payload is about 1000 bytes.
    private static let longestData = 2048

    static func take(from bytes: inout [UInt8]) -> TransferResult<Port100Frame> {
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

    /// Extracts the frame that always has these bytes; `nil` when the bytes so far are something else.
    private static func take(
        _ whole: [UInt8], as frame: Port100Frame, from bytes: inout [UInt8]
    ) -> TransferResult<Port100Frame>? {
        if bytes.starts(with: whole) {
            bytes.removeFirst(whole.count)
            return .message(frame)
        }
        return whole.starts(with: bytes) ? .incomplete : nil
    }
}

/// The framing of a Port-100: each command is acknowledged before it is answered. An acknowledgement from the host
/// aborts the running command.
struct Port100Framing: PaSoRiFraming {
    typealias Message = Port100Frame

    static let commandTime = Duration.seconds(1)

    static let closingCommands = [bytes(.switchRF, [0x00])]

    /// Encodes a command and its parameters.
    static func bytes(_ command: Port100Command, _ parameters: [UInt8]) -> [UInt8] {
        [command.rawValue] + parameters
    }

    /// Returns the bytes after the answer's code.
    func exchange(
        _ command: [UInt8], over transport: PaSoRiTransport<Self>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        try transport.send(Port100Frame.encode([0xD6] + command))
        // Anything before the acknowledgement is older than the command.
        try transport.receive(within: Self.commandTime) { $0 == .acknowledge ? true : nil }
        return try transport.receive(within: time) { frame throws(PaSoRiError) in
            switch frame {
            // A redundant one.
            case .acknowledge: return nil
            case .error: throw .damaged
            case .data(let data):
                guard let code = command.first, data.starts(with: [0xD7, code &+ 1]) else { throw .damaged }
                return Array(data.dropFirst(2))
            }
        }
    }

    func abort(over transport: PaSoRiTransport<Self>) throws(PaSoRiError) {
        try transport.send(Port100Frame.acknowledgeBytes)
    }

    func probe(over transport: PaSoRiTransport<Self>) throws(PaSoRiError) {
        let answer = try exchange(Self.bytes(.setCommandType, [0x01]), over: transport, within: Self.commandTime)
        guard answer == [0x00] else { throw .damaged }
    }
}

/// The commands of a Port-100 that Kazasu sends; an answer has the code plus one.
///
/// Source: nfcpy's `rcs380.py`, the kernel's `drivers/nfc/port100.c`.
enum Port100Command: UInt8, Sendable {
    /// Sets the modulation for sending and receiving.
    case inSetRF = 0x00
    /// Sets how frames are built and checked, as pairs of number and value.
    case inSetProtocol = 0x02
    /// Sends a frame to the card and returns its answer.
    case inCommRF = 0x04
    /// Switches the field off or on.
    case switchRF = 0x06
    /// Reads the firmware version, two bytes BCD, low byte first.
    case getFirmwareVersion = 0x20
    /// Selects the command set.
    case setCommandType = 0x2A
}
