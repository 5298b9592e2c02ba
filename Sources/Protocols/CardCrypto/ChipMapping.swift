// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The chip authentication data of PACE with chip-authentication mapping (ICAO Doc 9303-11 §4.4.3.3.3; BSI TR-03110-3 §B.1).
package enum ChipMapping {
    /// The longest data, encrypted; that of P-521 takes 80 bytes.
    private static let longest = 256

    /// Decrypts the data.
    ///
    /// - Parameter agreed: the secret of PACE.
    /// - Returns: `nil` if it is not whole blocks with their padding.
    package static func data(
        _ encrypted: [UInt8], _ cipher: ChipCipher, _ agreed: [UInt8]
    ) throws(CryptoError) -> [UInt8]? {
        guard !encrypted.isEmpty, encrypted.count.isMultiple(of: 16), encrypted.count <= longest else { return nil }
        let cipher = try SessionCipher(cipher, from: agreed, purpose: 1)
        let start = try cipher.encrypt([UInt8](repeating: 0xFF, count: 16))
        return cipher.unpadded(try cipher.decrypt(encrypted, after: start))
    }

    /// Computes again what an exchange proved; `nil` for a protocol or curve that is not known.
    ///
    /// - Throws: ``CryptoError/refused`` for keys that are not in the group.
    package static func proof(of record: MappingRecord) throws(CryptoError) -> ChipEvidence.MappingProof? {
        let ciphers = ChipCipher.allCases.map { PACEInfo(.chipAuthentication, $0, parameters: 0) }
        guard let cipher = ciphers.first(where: { $0.name == record.name })?.cipher,
            let number = (UInt8.min...31).first(where: {
                AgreementGroup.name(standard: Int($0)) == record.parameters
                    && AgreementGroup.isCurve(standard: Int($0)) == true
            }), record.privateKeys.count == 2, record.chipKeys.count == 2,
            let group = try AgreementGroup(standard: Int(number))
        else { return nil }
        let mapped = try group.mapped(
            nonce: record.nonce, record.privateKeys[0].bytes, with: record.chipKeys[0])
        let agreed = try mapped.agreed(record.privateKeys[1].bytes, with: record.chipKeys[1])
        return ChipEvidence.MappingProof(
            info: PACEInfo(.chipAuthentication, cipher, parameters: number), chipKey: record.chipKeys[0],
            data: try record.encryptedChipData.flatMap { encrypted throws(CryptoError) in
                try data(encrypted, cipher, agreed)
            }, record: record)
    }
}
