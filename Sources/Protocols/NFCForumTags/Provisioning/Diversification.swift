// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// NXP's key diversification.
///
/// Source: NXP AN10922, §2.2, §2.4 and §2.5, whose examples are tests.
enum Diversification {
    /// AES-128: the CMAC of 01 and the input, always padded to two blocks.
    ///
    /// - Parameter input: at most 31 bytes.
    static func aes(_ master: AESKey, _ input: [UInt8]) throws(CryptoError) -> [UInt8] {
        try part(0x01, .aes(master), input)
    }

    /// The key of one card for keys of a type; versions in parity bits stay those of the master.
    ///
    /// - Parameter input: at most 31 bytes with AES, else 15.
    static func derived(_ master: SecretBytes, _ type: DESFireKeyType, _ input: [UInt8]) throws(CryptoError) -> [UInt8]
    {
        guard type != .aes || CryptoError.isLibraryThere else { throw .libraryMissing }
        let cipher = try DESFireCipher(type, master)
        let constants: ClosedRange<UInt8> =
            switch type {
            case .aes: 0x01...0x01
            case .des: 0x21...0x22
            case .threeKeyTripleDES: 0x31...0x33
            }
        var derived: [UInt8] = []
        derived.reserveCapacity(type.keyLength)
        for constant in constants { derived += try part(constant, cipher, input) }
        guard type != .aes else { return derived }
        unsafe master.withUnsafeBytes { bytes in
            for place in 0..<8 {
                let bit = unsafe bytes[place] & 1
                derived[place] = derived[place] & 0xFE | bit
                // So that a derived key of two parts is never taken for single DES.
                if type == .des { derived[place + 8] = derived[place + 8] & 0xFE | (bit ^ 1) }
            }
        }
        return derived
    }

    /// The CMAC of a constant and the input. Less than two blocks are padded to two, and so have the second subkey.
    private static func part(
        _ constant: UInt8, _ cipher: DESFireCipher, _ input: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let length = 2 * cipher.blockLength
        guard input.count < length else { throw .dataLength(input.count) }
        let message = [constant] + input
        guard message.count < length else { return try cipher.cmac(message, after: cipher.zeros) }
        let filled = message + [0x80] + [UInt8](repeating: 0, count: length - message.count - 1)
        return try cipher.paddedCMAC(filled)
    }
}
