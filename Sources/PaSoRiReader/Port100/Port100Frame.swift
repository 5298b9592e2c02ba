// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ISODEP
internal import NFCTransport

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

/// A card's answer as delivered by a Port-100.
struct Port100Answer: Hashable, Sendable {
    /// The number of received bits of the last byte, 1 to 8.
    let lastByteBits: Int
    /// The received bytes, without CRC where the chip checks it.
    let bytes: [UInt8]
}

/// The settings of a Port-100 for exchanging frames of one kind.
struct Port100Setting: Hashable, Sendable {
    /// The parameters of InSetRF: send set and type, receive set and type.
    var radio: [UInt8]
    /// The complete values of InSetProtocol by their number.
    var protocolValues: [UInt8: UInt8]

    /// The numbers of InSetProtocol that Kazasu changes.
    enum Number {
        static let initialGuardTime: UInt8 = 0x00
        static let addCRC: UInt8 = 0x01
        static let checkCRC: UInt8 = 0x02
        static let addParity: UInt8 = 0x04
        static let checkParity: UInt8 = 0x05
        static let bitwiseAnticollision: UInt8 = 0x06
        static let lastByteBits: UInt8 = 0x07
        static let addStartOfFrame: UInt8 = 0x09
        static let checkStartOfFrame: UInt8 = 0x0A
        static let addEndOfFrame: UInt8 = 0x0B
        static let checkEndOfFrame: UInt8 = 0x0C
    }

    /// The values that nfcpy sets before each exchange; those of FeliCa.
    static let defaults: [UInt8: UInt8] = [
        0x00: 0x18, 0x01: 0x01, 0x02: 0x01, 0x03: 0x00, 0x04: 0x00, 0x05: 0x00, 0x06: 0x00, 0x07: 0x08, 0x08: 0x00,
        0x09: 0x00, 0x0A: 0x00, 0x0B: 0x00, 0x0C: 0x00, 0x0E: 0x04, 0x0F: 0x00, 0x10: 0x00, 0x11: 0x00, 0x12: 0x00,
        0x13: 0x06,
    ]

    /// FeliCa.
    static func felica(_ bitRate: FeliCaBitRate) -> Port100Setting {
        switch bitRate {
        case .kbps212: Port100Setting(radio: [0x01, 0x01, 0x0F, 0x01], protocolValues: defaults)
        case .kbps424: Port100Setting(radio: [0x01, 0x02, 0x0F, 0x02], protocolValues: defaults)
        }
    }

    /// The parameters of InSetProtocol that turn other values into these; all of them when there are none.
    func protocolParameters(after other: [UInt8: UInt8]?) -> [UInt8] {
        protocolValues.filter { other?[$0.key] != $0.value }.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }
}

extension Port100Setting {
    /// The settings for a frame of ISO 14443.
    ///
    /// Source: nfcpy's `rcs380.py`. A short frame has no parity bit; the parity of its answer is checked like any
    /// other's. That an anticollision frame with an incomplete last byte needs number 6 as well is inferred from its
    /// name.
    static func iso14443(_ frame: RawFrame) -> Port100Setting {
        var setting: Port100Setting
        switch frame.modulation {
        case .typeA:
            setting = Port100Setting(radio: [0x02, 0x03, 0x0F, 0x03], protocolValues: defaults)
            setting.protocolValues[Number.initialGuardTime] = 0x06
            let isWhole = frame.lastByteBits == 8
            setting.protocolValues[Number.addParity] = isWhole || frame.bytes.count > 1 ? 1 : 0
            setting.protocolValues[Number.bitwiseAnticollision] = isWhole || frame.bytes.count == 1 ? 0 : 1
            setting.protocolValues[Number.checkParity] = 1
            setting.protocolValues[Number.lastByteBits] = UInt8(clamping: frame.lastByteBits)
        case .typeB:
            setting = Port100Setting(radio: [0x03, 0x07, 0x0F, 0x07], protocolValues: defaults)
            setting.protocolValues[Number.initialGuardTime] = 0x14
            for number in [
                Number.addStartOfFrame, Number.checkStartOfFrame, Number.addEndOfFrame, Number.checkEndOfFrame,
            ] {
                setting.protocolValues[number] = 1
            }
        }
        setting.protocolValues[Number.addCRC] = frame.addsCRC ? 1 : 0
        setting.protocolValues[Number.checkCRC] = frame.checksCRC ? 1 : 0
        return setting
    }
}
