// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
package import CardModel

extension StandardKey {
    /// This key, for DES, as a card takes it in place of another: Write with access mode 100.
    ///
    /// The version and the key are enciphered by the key itself (the version only), the old key and the key of the area
    /// around the node; the system's own old key takes the place of that area's. Source: felica-rs and nfcpy's fork, one author.
    ///
    /// - Returns: `nil` for a key of AES, for which no public source says how it is changed.
    package func sealed(version: KeyVersion, old: StandardKey, parent: StandardKey) -> Block? {
        guard scheme == .des, old.scheme == .des, parent.scheme == .des else { return nil }
        func number(_ key: StandardKey) -> UInt64 { key.withBytes { UInt64(block: $0) } }
        let own = number(self)
        let (outer, inner) = (DESKey(number(parent)), DESKey(number(old)))
        let proof = DESKey(own).encrypt(UInt64(version.rawValue.byteSwapped))
        return Block([proof, own].flatMap { outer.encrypt(inner.encrypt($0)).block })
    }

    /// Whether it is one of the 16 weak and semi-weak keys of DES, or zeros, whatever its parity bits. Source: NIST SP 800-67.
    package var isWeak: Bool {
        guard scheme == .des else { return withBytes { $0.allSatisfy { $0 == 0 } } }
        let key = withBytes { UInt64(block: $0) } & Self.withoutParity
        return Self.weak.contains { $0 & Self.withoutParity == key }
    }

    private static let withoutParity: UInt64 = 0xFEFE_FEFE_FEFE_FEFE
    private static let weak: [UInt64] = [
        0x0101_0101_0101_0101, 0xFEFE_FEFE_FEFE_FEFE, 0xE0E0_E0E0_F1F1_F1F1, 0x1F1F_1F1F_0E0E_0E0E,
        0x011F_011F_010E_010E, 0x1F01_1F01_0E01_0E01, 0x01E0_01E0_01F1_01F1, 0xE001_E001_F101_F101,
        0x01FE_01FE_01FE_01FE, 0xFE01_FE01_FE01_FE01, 0x1FE0_1FE0_0EF1_0EF1, 0xE01F_E01F_F10E_F10E,
        0x1FFE_1FFE_0EFE_0EFE, 0xFE1F_FE1F_FE0E_FE0E, 0xE0FE_E0FE_F1FE_F1FE, 0xFEE0_FEE0_FEF1_FEF1,
    ]
}

extension StandardSession {
    /// Changes the DES key of a node in the session's list of services. It is valid at once.
    ///
    /// - Parameters:
    ///   - node: an area, a service or the system; its place in the list is part of the command.
    ///   - key: the new key, as ``StandardKey/sealed(version:old:parent:)`` makes it.
    /// - Throws: ``StandardError``, as ``write(_:_:)``.
    package mutating func changeKey(of node: NodeCode, to key: Block, version: KeyVersion) throws(StandardError) {
        guard access.scheme == .des, let place = access.nodes.firstIndex(of: node) else {
            throw .command(.invalidArgument(.serviceIndex(access.nodes.count, element: 0)))
        }
        let element = BlockListElement(serviceIndex: place, number: version.rawValue, accessMode: .keyChange)
        try write([element], [key])
    }
}
