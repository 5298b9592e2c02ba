// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What PC/SC puts into the ATR of a contactless card (PC/SC part 3, §3.1.3.2.3).
@nonexhaustive
public enum ContactlessATR: Hashable, Sendable {
    /// A card of ISO 14443-4. Type A has its historical bytes there. Type B has eight bytes: application data (4),
    /// protocol info (3) and MBLI in the high four bits; eight historical bytes of type A look the same.
    case isoDEP(historicalBytes: [UInt8], ifTypeB: TypeBFields?)
    /// A card without ISO-DEP: which standard (03 ISO 14443-3 A, 11 FeliCa) and which product.
    case storageCard(standard: UInt8, product: UInt16)

    /// The eight bytes of a card of type B.
    public struct TypeBFields: Hashable, Sendable {
        /// The application data of the ATQB, four bytes.
        public let applicationData: [UInt8]
        /// The protocol info of the ATQB, three bytes.
        public let protocolInfo: [UInt8]
        /// The maximum buffer length index of the answer to ATTRIB.
        public let mbli: UInt8
    }
}

extension ATR {
    /// The registered application provider that stands for PC/SC.
    private static let pcsc: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x06]

    /// What PC/SC says of a contactless card; `nil` for the ATR of a contact card.
    public var contactless: ContactlessATR? {
        guard bytes.first == 0x3B, interfaceBytes == [0x80, 0x01] else { return nil }
        let historical = historicalBytes.bytes
        if historicalBytes.category == 0x80, historical.element(at: 1) == 0x4F,
            historical.dropFirst(3).starts(with: ATR.pcsc),
            let standard = historical.element(at: 8), let high = historical.element(at: 9),
            let low = historical.element(at: 10)
        {
            return .storageCard(standard: standard, product: UInt16(high) << 8 | UInt16(low))
        }
        var fields: ContactlessATR.TypeBFields?
        if historical.count == 8, let last = historical.last, last & 0x0F == 0 {
            fields = ContactlessATR.TypeBFields(
                applicationData: Array(historical[..<4]), protocolInfo: Array(historical[4..<7]), mbli: last >> 4)
        }
        return .isoDEP(historicalBytes: historical, ifTypeB: fields)
    }
}
