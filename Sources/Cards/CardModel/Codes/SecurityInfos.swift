// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The cipher of a passport's session: encryption, codes and the derivation of keys belong together.
///
/// The numbers are the last one of the protocols' object identifiers (BSI TR-03110-3 §A.1.1.1).
package enum ChipCipher: UInt8, Hashable, Sendable, CaseIterable {
    case tripleDES = 1
    case aes128
    case aes192
    case aes256

    /// The length of a key in bytes.
    package var keyLength: Int {
        switch self {
        case .tripleDES, .aes128: 16
        case .aes192: 24
        case .aes256: 32
        }
    }

    /// The name in documents.
    package var name: String {
        switch self {
        case .tripleDES: "3DES"
        case .aes128: "AES-128"
        case .aes192: "AES-192"
        case .aes256: "AES-256"
        }
    }
}

/// A protocol of PACE with its domain parameters, as a chip lists it.
package struct PACEInfo: Hashable, Sendable {
    /// How the nonce becomes a generator.
    package enum Mapping: UInt8, Hashable, Sendable, CaseIterable {
        case genericNumbers = 1
        case genericCurve
        case integratedNumbers
        case integratedCurve
        /// As ``genericCurve``; the chip also shows that it knows the private key of EF.CardSecurity.
        case chipAuthentication = 6

        /// Whether it is for curves.
        package var isCurve: Bool { self != .genericNumbers && self != .integratedNumbers }
        /// Whether only the terminal sends something for the mapping.
        package var isIntegrated: Bool { self == .integratedCurve || self == .integratedNumbers }

        fileprivate var name: String {
            switch self {
            case .genericNumbers: "DH-GM"
            case .genericCurve: "ECDH-GM"
            case .integratedNumbers: "DH-IM"
            case .integratedCurve: "ECDH-IM"
            case .chipAuthentication: "ECDH-CAM"
            }
        }

        /// The order of preference, smallest first.
        fileprivate var rank: Int {
            switch self {
            case .chipAuthentication: 0
            case .genericCurve: 1
            case .integratedCurve: 2
            case .genericNumbers: 3
            case .integratedNumbers: 4
            }
        }
    }

    package let mapping: Mapping
    package let cipher: ChipCipher
    /// The number of the standard group (ICAO Doc 9303-11 §9.5.1).
    package let parameters: UInt8

    package init(_ mapping: Mapping, _ cipher: ChipCipher, parameters: UInt8) {
        (self.mapping, self.cipher, self.parameters) = (mapping, cipher, parameters)
    }

    /// The content of its object identifier, id-PACE with mapping and cipher.
    package var identifier: [UInt8] { SecurityInfos.pace + [mapping.rawValue, cipher.rawValue] }

    /// The name in documents, such as `ECDH-GM-AES-128`.
    package var name: String { "\(mapping.name)-\(cipher.name)" }

    /// Whether this one is to be preferred: the mapping decides, then the longer key.
    package func isBetter(than other: PACEInfo) -> Bool {
        guard mapping.rank == other.mapping.rank else { return mapping.rank < other.mapping.rank }
        return cipher.rawValue > other.cipher.rawValue
    }
}

/// The security protocols that a chip lists: EF.CardAccess, DG14, and the content of EF.CardSecurity.
///
/// A SET OF SEQUENCE { object identifier, … }. Entries that are unknown or malformed are skipped, whatever they hold, and one that is
/// there twice counts once.
///
/// Source: ICAO Doc 9303-11 §9.2; BSI TR-03110-3 §A.1.
package struct SecurityInfos: Hashable, Sendable {
    /// The public key of a chip authentication.
    package struct ChipKey: Hashable, Sendable {
        /// SubjectPublicKeyInfo, DER.
        package let der: [UInt8]
        /// Its number where the chip has several.
        package let id: [UInt8]?
        package let isCurve: Bool
    }

    /// A protocol of chip authentication.
    package struct ChipProtocol: Hashable, Sendable {
        /// The content of its object identifier; `nil` where the chip lists a key alone, which means Triple DES.
        package let identifier: [UInt8]?
        package let cipher: ChipCipher
        package let isCurve: Bool
        package let keyID: [UInt8]?

        package init(identifier: [UInt8]?, cipher: ChipCipher, isCurve: Bool, keyID: [UInt8]?) {
            (self.identifier, self.cipher, self.isCurve, self.keyID) = (identifier, cipher, isCurve, keyID)
        }

        /// The name in documents, such as `ECDH-AES-128`.
        package var name: String { "\(isCurve ? "ECDH" : "DH")-\(cipher.name)" }

        /// Whether a status word in the clear says that the chip does not understand the new keys; any other says nothing about them.
        package func isForeign(_ status: UInt16) -> Bool { [0x6982, 0x6987, 0x6988].contains(status) }
    }

    /// The known protocols of PACE, in the chip's order.
    package private(set) var pace: [PACEInfo] = []
    /// Whether any protocol of PACE is listed, known or not.
    package private(set) var listsPACE = false
    package private(set) var chipKeys: [ChipKey] = []
    package private(set) var chipProtocols: [ChipProtocol] = []
    /// Whether a protocol of chip authentication is listed that is not known.
    package private(set) var listsUnknownChipProtocol = false
    /// The content of the object identifier of the algorithm of ECDSA in active authentication.
    package private(set) var signatureAlgorithm: [UInt8]?

    /// The most entries that are read.
    private static let mostEntries = 64
    /// 0.4.0.127.0.7.2.2, bsi-de protocols smartcard.
    private static let smartcard: [UInt8] = [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02]
    fileprivate static let pace = smartcard + [0x04]
    private static let publicKey = smartcard + [0x01]
    private static let chipAuthentication = smartcard + [0x03]
    /// 2.23.136.1.1.5.
    private static let activeAuthentication: [UInt8] = [0x67, 0x81, 0x08, 0x01, 0x01, 0x05]

    /// Reads a SET at the start of these bytes; without one nothing is listed.
    package init(_ bytes: some Collection<UInt8>) {
        guard let set = BERTLVList(tolerant: bytes).objects.first, set.tag == 0x31 else { return }
        for entry in BERTLVList(tolerant: set.value).objects.prefix(Self.mostEntries) where entry.tag == 0x30 {
            let parts = BERTLVList(tolerant: entry.value).objects
            guard let name = parts.first, name.tag == 0x06 else { continue }
            add(name.value, Array(parts.dropFirst()))
        }
    }

    /// Reads DG14: 6E { SET }.
    package init(dataGroup bytes: [UInt8]) {
        self.init(BERTLVList(tolerant: bytes)[0x6E]?.value ?? [])
    }

    /// Adds an entry: its required and its optional data.
    private mutating func add(_ name: [UInt8], _ data: [BERTLV]) {
        switch (name, name.count - Self.smartcard.count) {
        case (_, 2...) where name.starts(with: Self.pace):
            listsPACE = true
            guard name.count == Self.pace.count + 2, data.count >= 2, data[0].number == 2,
                let parameters = data[1].number, let mapping = PACEInfo.Mapping(rawValue: name[name.count - 2]),
                let cipher = ChipCipher(rawValue: name[name.count - 1]),
                mapping != .chipAuthentication || cipher != .tripleDES
            else { return }
            let info = PACEInfo(mapping, cipher, parameters: parameters)
            if !pace.contains(info) { pace.append(info) }
        case (_, 2) where name.starts(with: Self.publicKey):
            guard let kind = name.last, (1...2).contains(kind), let key = data.first, key.tag == 0x30 else { return }
            let found = ChipKey(der: key.encoded, id: data.dropFirst().first?.integer, isCurve: kind == 2)
            if !chipKeys.contains(found) { chipKeys.append(found) }
        case (_, 3) where name.starts(with: Self.chipAuthentication):
            // Version 1; 2 is seen as well.
            guard (1...2).contains(name[name.count - 2]), let cipher = ChipCipher(rawValue: name[name.count - 1]),
                let version = data.first?.number, (1...2).contains(version)
            else {
                listsUnknownChipProtocol = true
                return
            }
            let found = ChipProtocol(
                identifier: name, cipher: cipher, isCurve: name[name.count - 2] == 2,
                keyID: data.dropFirst().first?.integer)
            if !chipProtocols.contains(found) { chipProtocols.append(found) }
        case (Self.activeAuthentication, _):
            if data.count == 2, data[0].number == 1, data[1].tag == 0x06 { signatureAlgorithm = data[1].value }
        default: break
        }
    }

    /// The protocol of chip authentication to use, with its key: the strongest cipher whose key is there. A key without a protocol is
    /// used with Triple DES.
    package var chipAuthentication: (way: ChipProtocol, key: ChipKey)? { chipAuthentications.first }

    /// The one of these names, which an earlier exchange used.
    package func chipAuthentication(named name: String, keyID: [UInt8]?) -> (way: ChipProtocol, key: ChipKey)? {
        chipAuthentications.first { $0.way.name == name && $0.way.keyID == keyID }
    }

    /// Those whose key is there, best first.
    private var chipAuthentications: [(way: ChipProtocol, key: ChipKey)] {
        let found = chipProtocols.sorted { $0.cipher.rawValue > $1.cipher.rawValue }.compactMap { way in
            let keys = chipKeys.filter { $0.isCurve == way.isCurve }
            let key = keys.first { $0.id == way.keyID } ?? (way.keyID == nil ? keys.first : nil)
            return key.map { (way: way, key: $0) }
        }
        guard chipProtocols.isEmpty, !listsUnknownChipProtocol, let key = chipKeys.first else { return found }
        return [(ChipProtocol(identifier: nil, cipher: .tripleDES, isCurve: key.isCurve, keyID: key.id), key)]
    }

    /// Whether a chip authentication is listed, known or not.
    package var listsChipAuthentication: Bool {
        !chipKeys.isEmpty || !chipProtocols.isEmpty || listsUnknownChipProtocol
    }
}

extension BERTLV {
    /// The content of an INTEGER without leading zeros, at most eight bytes.
    fileprivate var integer: [UInt8]? {
        guard tag == 0x02, !value.isEmpty else { return nil }
        let digits = Array(value.dropLast().drop { $0 == 0 }) + value.suffix(1)
        return digits.count > 8 ? nil : digits
    }

    /// An INTEGER from 0 to 127.
    fileprivate var number: UInt8? {
        guard let integer, integer.count == 1, let number = integer.first, number < 0x80 else { return nil }
        return number
    }
}
