// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ISODEP
internal import NFCTransport

/// Frames to cards through a Port-100, whose settings are sent only when they change.
final class Port100Radio {
    private let link: Port100Link
    private var toldRadio: [UInt8]?
    private var toldProtocol: [UInt8: UInt8]?
    private var seenResets = 0

    init(_ link: Port100Link) {
        self.link = link
    }

    /// Sends a frame and returns the answer.
    ///
    /// - Parameter time: the longest time that the card may take; values above 6.5 s count as that.
    func exchange(
        _ frame: [UInt8], as setting: Port100Setting, within time: Duration
    ) throws(TransportError) -> Port100Answer {
        try tell(setting)
        let tenths = Port100Time.tenths(time)
        var parameters = ByteWriter()
        parameters.write(tenths, .little)
        let answer = try link.run(.inCommRF, parameters.bytes + frame, within: Port100Time.duration(tenths))
        var reader = ByteReader(answer)
        guard let status = try? reader.readUInt32(.little) else { throw .corrupted(status: 0) }
        if let error = Port100RadioStatus(rawValue: status).error { throw error }
        guard let bits = try? reader.readUInt8(), (1...8).contains(bits), answer.count > 5 else {
            throw .corrupted(status: 0)
        }
        return Port100Answer(lastByteBits: Int(bits), bytes: Array(answer.dropFirst(5)))
    }

    /// Switches the field off: cards lose their power. Setting the modulation again switches it on.
    func switchOff() throws(TransportError) {
        forget()
        try succeed(.switchRF, [0x00])
    }

    private func tell(_ setting: Port100Setting) throws(TransportError) {
        if seenResets != link.resets { forget() }
        if toldRadio != setting.radio {
            forget()
            try succeed(.inSetRF, setting.radio)
            toldRadio = setting.radio
        }
        let parameters = setting.protocolParameters(after: toldProtocol)
        guard !parameters.isEmpty else { return }
        toldProtocol = nil
        try succeed(.inSetProtocol, parameters)
        toldProtocol = setting.protocolValues
    }

    private func forget() {
        seenResets = link.resets
        toldRadio = nil
        toldProtocol = nil
    }

    private func succeed(_ command: Port100Command, _ parameters: [UInt8]) throws(TransportError) {
        let answer = try link.run(command, parameters)
        guard answer.first == 0x00 else {
            throw .readerFailed(detail: .init(.settingRefused, Hex.encode(answer.prefix(1))))
        }
    }
}

/// Cards of type A and B: the chip carries their frames, and everything else is done in software.
extension Port100Radio: PaSoRiRadio {
    /// nfcpy's figure; an ISO-DEP frame has 256 bytes at most.
    var longestRawFrame: Int { 290 }

    /// How long the field is off; ISO 14443-3 requires 5 ms.
    private static let fieldOffTime = Duration.milliseconds(10)

    func exchange(
        felica frame: [UInt8], at bitRate: FeliCaBitRate, within time: Duration
    ) throws(TransportError) -> [UInt8] {
        try exchange(frame, as: .felica(bitRate), within: time).bytes
    }

    func close() { link.close() }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        let answer = try exchange(frame.bytes, as: .iso14443(frame), within: timeout)
        return RawAnswer(answer.bytes, lastByteBits: answer.lastByteBits)
    }

    func resetField() throws(TransportError) {
        try switchOff()
        try wait(Self.fieldOffTime)
    }
}

/// The first four bytes of InCommRF's answer, a little-endian number whose bits report errors.
///
/// Source: nfcpy's `rcs380.py`.
struct Port100RadioStatus: Hashable, Sendable {
    let rawValue: UInt32

    private static let damaged: UInt32 = 0x8000_010F
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
    /// The number for a time, rounded up, plus the extra millisecond that nfcpy gives; never 0, which is for ever.
    static func tenths(_ time: Duration) -> UInt16 {
        let (seconds, attoseconds) = time.components
        guard seconds < 7 else { return .max }
        let part = (max(attoseconds, 0) + 99_999_999_999_999) / 100_000_000_000_000
        return UInt16(clamping: max(seconds, 0) * 10_000 + part + 10)
    }

    /// The time of a number.
    static func duration(_ tenths: UInt16) -> Duration {
        .microseconds(Int(tenths) * 100)
    }
}
