// SPDX-License-Identifier: Apache-2.0

/// A key of Triple DES with two keys (keying option 2): encipher with K1, decipher with K2, encipher with K1.
///
/// For cards that know nothing newer (MIFARE Ultralight C, ICAO's basic access): its 112 bits are not for new designs.
/// What it is made of is overwritten when nobody holds it any more, and it prints, reflects and dumps as `Redacted`.
/// Sources: FIPS 46-3, NIST SP 800-67; modes: ISO/IEC 10116, ISO/IEC 9797-1.
public final class TripleDESKey: SecretValue {
    private let first: DESKey
    private let second: DESKey

    /// How many bytes a key has.
    public static let length = 16

    /// A key of sixteen bytes, K1 before K2; the parity bits (the lowest of each byte) are not looked at.
    ///
    /// - Throws: ``CipherError/keyLength(expected:given:)``.
    public init(_ key: SecretBytes) throws(CipherError) {
        guard key.count == TripleDESKey.length else {
            throw .keyLength(expected: TripleDESKey.length, given: key.count)
        }
        (first, second) = unsafe key.withUnsafeBytes { bytes in
            unsafe (DESKey(UInt64(block: bytes.prefix(8))), DESKey(UInt64(block: bytes.suffix(8))))
        }
    }

    /// Enciphers blocks of eight bytes in CBC.
    ///
    /// - Parameters:
    ///   - data: a multiple of eight bytes.
    ///   - start: the starting value, big-endian: the last block that was enciphered, or 0.
    /// - Throws: ``CipherError/dataLength(_:)``.
    public func encrypt(_ data: some Collection<UInt8>, after start: UInt64 = 0) throws(CipherError) -> [UInt8] {
        var last = start
        return try TripleDESKey.blocks(data).flatMap { block in
            last = first.encrypt(second.decrypt(first.encrypt(block ^ last)))
            return last.block
        }
    }

    /// Deciphers blocks of eight bytes in CBC.
    ///
    /// - Parameters:
    ///   - data: a multiple of eight bytes.
    ///   - start: the starting value that they were enciphered with, big-endian.
    /// - Throws: ``CipherError/dataLength(_:)``.
    public func decrypt(_ data: some Collection<UInt8>, after start: UInt64 = 0) throws(CipherError) -> [UInt8] {
        var last = start
        return try TripleDESKey.blocks(data).flatMap { block in
            defer { last = block }
            return (first.decrypt(second.encrypt(first.decrypt(block))) ^ last).block
        }
    }

    /// The retail MAC, eight bytes: ISO/IEC 9797-1, algorithm 3 with padding method 2, starting value 0.
    ///
    /// Single DES in CBC with K1 over the data, one byte 80 and zeros; the last block goes through K2 and K1 as well.
    public func retailMAC(of data: some Collection<UInt8>) -> [UInt8] {
        let padding = [0x80] + [UInt8](repeating: 0, count: 7 - data.count % 8)
        var last: UInt64 = 0
        for block in TripleDESKey.wholeBlocks(Array(data) + padding) { last = first.encrypt(block ^ last) }
        return first.encrypt(second.decrypt(last)).block
    }

    private static func blocks(_ data: some Collection<UInt8>) throws(CipherError) -> [UInt64] {
        guard data.count.isMultiple(of: 8) else { throw .dataLength(data.count) }
        return wholeBlocks(Array(data))
    }

    private static func wholeBlocks(_ data: [UInt8]) -> [UInt64] {
        stride(from: 0, to: data.count, by: 8).map { UInt64(block: data.dropFirst($0).prefix(8)) }
    }
}
