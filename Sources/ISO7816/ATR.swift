// SPDX-License-Identifier: Apache-2.0

package import ByteCodec
package import CardModel

/// An answer to reset (ISO/IEC 7816-3 §8.2): what a contact card says first, and what PC/SC makes of a contactless one.
package struct ATR: Hashable, Sendable {
    /// All bytes as they came.
    package let bytes: [UInt8]
    /// The interface bytes TA1, TB1, … as they follow each other, without T0 and the historical bytes.
    package let interfaceBytes: [UInt8]
    /// The protocols that the bytes TD name, in their order; T=0 when there is none.
    package let protocols: [UInt8]
    /// The historical bytes.
    package let historicalBytes: HistoricalBytes
    /// The check byte TCK; `nil` when there is none.
    package let tck: UInt8?

    /// Whether TCK is there where it has to be, and right.
    package var isChecksumRight: Bool {
        guard tck != nil else { return protocols.allSatisfy { $0 == 0 } }
        return bytes.dropFirst().reduce(0) { $0 ^ $1 } == 0
    }

    /// Reads an ATR, or `nil` when it is cut short, has bytes too many or does not begin with 3B or 3F. A wrong check
    /// byte is no hindrance.
    package init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        var reader = ByteReader(bytes)
        do throws(ByteCodecError) {
            let direction = try reader.readUInt8()
            guard direction == 0x3B || direction == 0x3F else { return nil }
            let format = try reader.readUInt8()
            var interface: [UInt8] = []
            var protocols: [UInt8] = []
            var indicator = format >> 4
            // At most 32 bytes after the first: more are no ATR, and there is no loop without end.
            while indicator != 0, bytes.count <= 33 {
                for _ in 0..<(indicator & 0x07).nonzeroBitCount { interface.append(try reader.readUInt8()) }
                guard indicator & 0x08 != 0 else { break }
                let next = try reader.readUInt8()
                interface.append(next)
                protocols.append(next & 0x0F)
                indicator = next >> 4
            }
            historicalBytes = HistoricalBytes(try reader.readBytes(Int(format & 0x0F)))
            self.protocols = protocols.isEmpty ? [0] : protocols
            interfaceBytes = interface
            tck = reader.remaining > 0 ? try reader.readUInt8() : nil
            try reader.expectEnd()
        } catch {
            return nil
        }
        self.bytes = bytes
    }
}

/// What PC/SC puts into the ATR of a contactless card (PC/SC part 3, §3.1.3.2.3).
@nonexhaustive
package enum ContactlessATR: Hashable, Sendable {
    /// A card of ISO 14443-4. Type A has its historical bytes there. Type B has eight bytes: application data (4),
    /// protocol info (3) and MBLI in the high four bits; eight historical bytes of type A look the same.
    case isoDEP(historicalBytes: [UInt8], ifTypeB: TypeBFields?)
    /// A card without ISO-DEP: which standard (03 ISO 14443-3 A, 11 FeliCa) and which product.
    case storageCard(standard: UInt8, product: UInt16)

    /// The eight bytes of a card of type B.
    package struct TypeBFields: Hashable, Sendable {
        /// The application data of the ATQB, four bytes.
        package let applicationData: [UInt8]
        /// The protocol info of the ATQB, three bytes.
        package let protocolInfo: [UInt8]
        /// The maximum buffer length index of the answer to ATTRIB.
        package let mbli: UInt8
    }
}

extension ATR {
    /// The registered application provider that stands for PC/SC.
    private static let pcsc: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x06]

    /// What PC/SC says of a contactless card; `nil` for the ATR of a contact card.
    package var contactless: ContactlessATR? {
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

/// The historical bytes of an ATS or ATR (ISO/IEC 7816-4 §12.1.1): what a card tells of itself before it is asked.
package struct HistoricalBytes: Hashable, Sendable {
    /// All of them as they came.
    package let bytes: [UInt8]
    /// The category indicator, the first byte: 00 and 80 say that data objects follow; others are the maker's own.
    package let category: UInt8?
    /// The data objects in COMPACT-TLV, up to the first that is broken; none in a category that has none.
    package let objects: [CompactTLV]
    /// The life cycle status byte, where it stands apart from the objects (category 00) or in object 8.
    package let lifeCycle: UInt8?
    /// The status word in the same places.
    package let status: StatusWord?

    /// Reads historical bytes; every sequence is some.
    package init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        self.bytes = bytes
        category = bytes.first
        var body = bytes.dropFirst()
        var trailer: [UInt8] = []
        switch category {
        case 0x00:
            trailer = Array(body.suffix(3))
            body = body.dropLast(3)
        case 0x80: break
        default: body = []
        }
        objects = HistoricalBytes.objects(body)
        if category == 0x80, let last = objects.last, last.tag == 8 { trailer = last.value }
        lifeCycle = trailer.count == 1 || trailer.count == 3 ? trailer.first : nil
        let word = trailer.suffix(2)
        status = word.count == 2 ? word.first.flatMap { high in word.last.map { StatusWord(high, $0) } } : nil
    }

    private static func objects(_ body: ArraySlice<UInt8>) -> [CompactTLV] {
        var objects: [CompactTLV] = []
        var rest = body
        while let lead = rest.first, rest.count > Int(lead & 0x0F) {
            objects.append(CompactTLV(lead >> 4, Array(rest.dropFirst().prefix(Int(lead & 0x0F)))))
            rest = rest.dropFirst(Int(lead & 0x0F) + 1)
        }
        return objects
    }

    /// The value of an object: 3 card service data, 5 the issuer's own, 6 the maker's, 7 card capabilities.
    package func value(of tag: UInt8) -> [UInt8]? {
        objects.first { $0.tag == tag }?.value
    }

    /// Whether the card takes extended Lc and Le, and chaining of commands; `nil` when it does not say (third byte of
    /// the card capabilities).
    package var capabilities: (extendedLength: Bool, chaining: Bool)? {
        value(of: 7)?.element(at: 2).map { ($0 & 0x40 != 0, $0 & 0x80 != 0) }
    }
}
