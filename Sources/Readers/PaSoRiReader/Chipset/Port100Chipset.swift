// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ISODEP
internal import ReaderCore

/// The transport of a Port-100's commands.
typealias Port100Transport = PaSoRiTransport<Port100Framing>

/// The Port-100, the chip of the RC-S380: carries frames of any technology, and sends its settings only when they
/// change.
final class Port100Chipset {
    private let transport: Port100Transport
    private var currentRF: [UInt8]?
    private var currentProtocol: [UInt8: UInt8]?
    private var seenResets = 0
    /// 424 kbit/s, the highest that the kernel's `port100.c` sets for type A and B; 0 once a card has failed at more than 106.
    private(set) var highestBitRate: UInt8 = 2

    init(_ transport: Port100Transport) {
        self.transport = transport
    }

    /// Sends a frame and returns the answer.
    ///
    /// - Parameter time: the longest time that the card may take; values above 6.5 s count as that.
    func exchange(
        _ frame: [UInt8], as setting: Port100Setting, within time: Duration
    ) throws(TransportError) -> Port100Answer {
        try apply(setting)
        let tenths = Port100Time.tenths(time)
        var parameters = ByteWriter()
        parameters.write(tenths, .little)
        let answer = try run(.inCommRF, parameters.bytes + frame, within: Port100Time.duration(tenths))
        var reader = ByteReader(answer)
        guard let status = try? reader.readUInt32(.little) else { throw .corrupted(status: 0) }
        if let error = Port100Status(rawValue: status).error { throw error }
        guard let bits = try? reader.readUInt8(), (1...8).contains(bits), answer.count > 5 else {
            throw .corrupted(status: 0)
        }
        return Port100Answer(lastByteBits: Int(bits), bytes: Array(answer.dropFirst(5)))
    }

    /// Reads the firmware version: two bytes BCD, low byte first.
    func firmwareVersion() throws(TransportError) -> [UInt8] { try run(.getFirmwareVersion, []) }

    /// Switches the field off: cards lose their power. Setting the modulation again switches it on.
    func switchOff() throws(TransportError) {
        invalidateSettings()
        guard try run(.switchRF, [0x00]) == [0x00] else { throw .readerFailed(detail: .init(.fieldStaysOn)) }
    }

    private func apply(_ setting: Port100Setting) throws(TransportError) {
        if seenResets != transport.resets { invalidateSettings() }
        if currentRF != setting.radio {
            invalidateSettings()
            try execute(.inSetRF, setting.radio)
            currentRF = setting.radio
        }
        let parameters = setting.protocolParameters(after: currentProtocol)
        guard !parameters.isEmpty else { return }
        currentProtocol = nil
        try execute(.inSetProtocol, parameters)
        currentProtocol = setting.protocolValues
    }

    private func invalidateSettings() {
        seenResets = transport.resets
        currentRF = nil
        currentProtocol = nil
    }

    private func execute(_ command: Port100Command, _ parameters: [UInt8]) throws(TransportError) {
        let answer = try run(command, parameters)
        guard answer.first == 0x00 else {
            throw .readerFailed(detail: .init(.settingRefused, Hex.encode(answer.prefix(1))))
        }
    }

    /// Runs a command and returns the bytes after the answer's code.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    private func run(
        _ command: Port100Command, _ parameters: [UInt8], within time: Duration = .zero
    ) throws(TransportError) -> [UInt8] {
        try transport.run(Port100Framing.bytes(command, parameters), within: time)
    }
}

/// Cards of type A and B: the chip carries their frames, and everything else is done in software.
extension Port100Chipset: PaSoRiChipset {
    /// nfcpy's figure; an ISO-DEP frame has 256 bytes at most.
    var longestRawFrame: Int { 290 }

    /// How long the field is off; ISO 14443-3 requires 5 ms.
    private static let fieldOffTime = Duration.milliseconds(10)

    func exchange(
        felica frame: [UInt8], at bitRate: FeliCaBitRate, within time: Duration
    ) throws(TransportError) -> [UInt8] {
        try exchange(frame, as: .felica(bitRate), within: time).bytes
    }

    func close() { transport.close() }

    func didFailAtHigherBitRate() { highestBitRate = 0 }

    func isCollision(_ status: UInt8) -> Bool { status & Port100Status.collision != 0 }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        let answer = try exchange(frame.bytes, as: .iso14443(frame), within: timeout)
        return RawAnswer(answer.bytes, lastByteBits: answer.lastByteBits)
    }

    func resetField() throws(TransportError) {
        try switchOff()
        try wait(Self.fieldOffTime)
    }
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
    /// The parameters of InSetRF for type A (kernel `drivers/nfc/port100.c`).
    private static func typeA(_ bitRate: UInt8) -> [UInt8] {
        switch bitRate {
        case 0: [0x02, 0x03, 0x0F, 0x03]
        case 1: [0x04, 0x04, 0x0F, 0x04]
        default: [0x05, 0x05, 0x0F, 0x05]
        }
    }

    /// The settings for a frame of ISO 14443.
    ///
    /// Source: nfcpy's `rcs380.py`. A short frame has no parity bit; the parity of its answer is checked like any
    /// other's. That an anticollision frame with an incomplete last byte needs number 6 as well is inferred from its
    /// name.
    static func iso14443(_ frame: RawFrame) -> Port100Setting {
        var setting: Port100Setting
        switch frame.modulation {
        case .typeA:
            setting = Port100Setting(radio: typeA(frame.bitRate), protocolValues: defaults)
            setting.protocolValues[Number.initialGuardTime] = 0x06
            let isWhole = frame.lastByteBits == 8
            setting.protocolValues[Number.addParity] = isWhole || frame.bytes.count > 1 ? 1 : 0
            setting.protocolValues[Number.bitwiseAnticollision] = isWhole || frame.bytes.count == 1 ? 0 : 1
            setting.protocolValues[Number.checkParity] = 1
            setting.protocolValues[Number.lastByteBits] = UInt8(clamping: frame.lastByteBits)
        case .typeB:
            let type = 0x07 + min(frame.bitRate, 2)
            setting = Port100Setting(radio: [0x03, type, 0x0F, type], protocolValues: defaults)
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

/// The first four bytes of InCommRF's answer, a little-endian number whose bits report errors.
///
/// Source: nfcpy's `rcs380.py`.
struct Port100Status: Hashable, Sendable {
    let rawValue: UInt32

    private static let damaged: UInt32 = 0x8000_010F
    /// The bit of a collision, in the status and in the byte of a damaged answer.
    static let collision: UInt8 = 0x08
    private static let overflow: UInt32 = 0x10
    private static let hot: UInt32 = 0x40
    private static let silent: UInt32 = 0x80
    private static let otherField: UInt32 = 0x200
    private static let fieldOff: UInt32 = 0x400

    /// The bits that describe the damage, moved into one byte: 10 for a fault of Crypto1, 20 for a wrong length.
    private var damage: UInt8 {
        UInt8(truncatingIfNeeded: rawValue & 0x0F | rawValue >> 4 & 0x10 | rawValue >> 26 & 0x20)
    }

    /// The error; `nil` for success.
    var error: TransportError? {
        if rawValue == 0 { return nil }
        if rawValue & Self.hot != 0 { return .readerFailed(detail: .init(.tooHot)) }
        if rawValue & Self.fieldOff != 0 { return .readerFailed(detail: .init(.fieldOff)) }
        if rawValue & Self.otherField != 0 { return .readerFailed(detail: .init(.otherField)) }
        if rawValue & Self.overflow != 0 { return .answerTooLong }
        // Damage first: an aborted frame ends in a time-out, too.
        if rawValue & Self.damaged != 0 { return .corrupted(status: damage) }
        if rawValue & Self.silent != 0 { return .noAnswer }
        return .readerFailed(detail: .init(.status, String(rawValue, radix: 16)))
    }
}

/// How long a Port-100 waits for a card: InCommRF's two bytes, in tenths of a millisecond.
enum Port100Time {
    /// The number for a time, rounded up, plus the extra millisecond that nfcpy gives; never 0, which is forever.
    static func tenths(_ time: Duration) -> UInt16 {
        UInt16(clamping: min(time, .seconds(7)).count(of: .microseconds(100), roundedUp: true) + 10)
    }

    /// The time of a number.
    static func duration(_ tenths: UInt16) -> Duration {
        .microseconds(Int(tenths) * 100)
    }
}
