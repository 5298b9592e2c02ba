// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The states of a type B card until ATTRIB (ISO 14443-3).
struct TypeBSelection: Sendable {
    /// The result of a frame.
    enum Result: Hashable, Sendable {
        case silence
        case answer(CardAnswer)
        /// ATTRIB: the card is selected with this index of the reader's frame size, this CID and these speeds.
        case selected(frameSizeIndex: UInt8, cid: UInt8, ISOBitRates)
    }

    let identity: TypeBIdentity
    private var pupi: [UInt8]
    private var isHalted = false
    /// The time slot in which the card answers; `nil` when it was not requested.
    private var slot: Int?
    private var isDeclared = false
    private var random: SplitMix64

    init(_ identity: TypeBIdentity) {
        self.identity = identity
        var seed: UInt64 = 0
        for byte in (identity.pupi ?? []) + identity.applicationData { seed = seed &* 31 &+ UInt64(byte) }
        random = SplitMix64(seed: seed)
        pupi = []
        choosePUPI()
    }

    private mutating func choosePUPI() {
        pupi = identity.pupi ?? (0..<4).map { _ in UInt8.random(in: 0...0xFF, using: &random) }
    }

    mutating func losePower() {
        leave()
        isHalted = false
        choosePUPI()
    }

    /// HLTB or S(DESELECT).
    mutating func halt() {
        leave()
        isHalted = true
    }

    private mutating func leave() {
        slot = nil
        isDeclared = false
    }

    mutating func take(_ frame: RadioFrame) -> Result {
        guard frame.technology == .typeB, frame.hasCRC, frame.lastByteBits == 8, let first = frame.bytes.first else {
            return .silence
        }
        if first == TypeBCommand.request, frame.bytes.count == 3 { return request(frame.bytes[1], frame.bytes[2]) }
        if first & 0x0F == TypeBCommand.request, frame.bytes.count == 1 { return marker(Int(first >> 4) + 1) }
        guard Array(frame.bytes.dropFirst().prefix(4)) == pupi, isDeclared else { return .silence }
        switch (first, frame.bytes.count) {
        case (TypeBCommand.halt, 5):
            halt()
            return .answer(CardAnswer([0x00]))
        case (TypeBCommand.attribute, 9...): return attribute(Array(frame.bytes.dropFirst(5)))
        default: return .silence
        }
    }

    private mutating func request(_ family: UInt8, _ parameter: UInt8) -> Result {
        leave()
        let code = parameter & 0x07
        guard isCalled(family), !isHalted || parameter & TypeBCommand.wakeUp != 0, code <= 4 else { return .silence }
        isHalted = false
        slot = Int.random(in: 1...(1 << Int(code)), using: &random)
        return marker(1)
    }

    /// Whether the card is of the requested family: 00 all, X0 a family, XY one of its parts, 0Y part Y of any.
    private func isCalled(_ family: UInt8) -> Bool {
        let own = identity.applicationFamily
        let isFamily = family & 0xF0 == 0 || family & 0xF0 == own & 0xF0
        return isFamily && (family & 0x0F == 0 || family & 0x0F == own & 0x0F)
    }

    private mutating func marker(_ number: Int) -> Result {
        guard slot == number else { return .silence }
        isDeclared = true
        return .answer(CardAnswer([TypeBCommand.halt] + pupi + identity.applicationData + identity.protocolInfo))
    }

    /// Parses the four parameters of ATTRIB; higher-layer data in the same frame is ignored.
    private mutating func attribute(_ parameters: [UInt8]) -> Result {
        guard let frame = parameters.element(at: 1), let type = parameters.element(at: 2),
            let number = parameters.element(at: 3), number & 0x0F < 0x0F,
            type & 0x01 == 0 || identity.speaksISODEP || identity.startsWithoutISODEP
        else { return .silence }
        // Bits 5 and 6 of the second parameter are the speed to the card, 7 and 8 that from it (7.10.4).
        let rates = ISOBitRates(
            toCard: ISOBitRate(rawValue: frame >> 4 & 0x03) ?? .kbps106,
            fromCard: ISOBitRate(rawValue: frame >> 6) ?? .kbps106)
        guard SupportedBitRates(code: identity.protocolInfo.first ?? 0).contains(rates) else { return .silence }
        leave()
        return .selected(frameSizeIndex: frame & 0x0F, cid: identity.supportsCID ? number & 0x0F : 0, rates)
    }
}

/// The commands of ISO 14443-3 type B.
package enum TypeBCommand {
    /// REQB and WUPB: followed by the application family and a parameter. The low nibble of a slot marker, too.
    package static let request: UInt8 = 0x05
    /// The bit of the parameter that makes a REQB a WUPB.
    package static let wakeUp: UInt8 = 0x08
    /// ATTRIB.
    package static let attribute: UInt8 = 0x1D
    /// HLTB, and the first byte of an ATQB.
    package static let halt: UInt8 = 0x50
}

/// The data that a card of ISO 14443 type B sends during selection.
package struct TypeBIdentity: Hashable, Sendable {
    /// The PUPI, four bytes; `nil` for a card that chooses a new one whenever it gets power.
    package let pupi: [UInt8]?
    /// The application data of the ATQB, four bytes.
    package let applicationData: [UInt8]
    /// The protocol info of the ATQB, three or four bytes; it includes the frame size and whether CIDs are supported.
    package let protocolInfo: [UInt8]
    /// The card's application family; a card of family 00 answers only when all families are requested.
    package var applicationFamily: UInt8
    /// Whether it answers an ATTRIB for ISO-DEP although its protocol info says that it has none.
    package var startsWithoutISODEP = false

    /// The protocol info of a card without special features: 106 kbit/s, 256 bytes, ISO 14443-4, FWI 8, CID.
    package static let plainProtocolInfo: [UInt8] = [0x00, 0x81, 0x81]

    /// Creates a card of type B; `nil` when a value has the wrong length.
    package init?(
        pupi: [UInt8]?, applicationData: [UInt8] = [0, 0, 0, 0], protocolInfo: [UInt8] = plainProtocolInfo,
        applicationFamily: UInt8 = 0
    ) {
        guard pupi.map({ $0.count == 4 }) ?? true, applicationData.count == 4, (3...4).contains(protocolInfo.count)
        else { return nil }
        self.pupi = pupi
        self.applicationData = applicationData
        self.protocolInfo = protocolInfo
        self.applicationFamily = applicationFamily
    }

    /// FSCI: the high nibble of the second byte of the protocol info.
    package var frameSizeIndex: UInt8 { (protocolInfo.element(at: 1) ?? 0) >> 4 }
    /// FWI: the high nibble of the third.
    package var waitingTimeIndex: UInt8 { (protocolInfo.element(at: 2) ?? 0) >> 4 }
    /// Whether the third says that blocks may carry a CID.
    package var supportsCID: Bool { (protocolInfo.element(at: 2) ?? 0) & 0x01 != 0 }
    /// Whether the third says that blocks may carry a NAD.
    var supportsNAD: Bool { (protocolInfo.element(at: 2) ?? 0) & 0x02 != 0 }
    /// Whether the second says that the card supports ISO 14443-4.
    package var speaksISODEP: Bool { (protocolInfo.element(at: 1) ?? 0) & 0x01 != 0 }
}
