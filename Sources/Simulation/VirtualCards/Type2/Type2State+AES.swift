// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto

/// The authentication and codes of an Ultralight AES, written by hand from NXP's examples, so that a mistake of the reading
/// side shows.
extension Type2State {
    /// The first part: an encrypted random number, unless too many wrong keys were tried.
    mutating func beginAES(_ number: Int) -> Result {
        guard let key = memory.aesKeys.indices.contains(number) ? memory.aesKeys[number] : nil else {
            return .refusal(Self.wrongArgument)
        }
        let limit = protection.wrongPasswords
        guard limit == 0 || memory.wrongPasswords < limit else { return .refusal(Self.counterOverflow) }
        let random = nextNumber()
        guard let cipher = try? AESKey(SecretBytes(key)).encrypt(random) else { return .refusal(Self.wrongArgument) }
        aesChallenge = (random, key)
        return .data([0xAF] + cipher)
    }

    /// The second part: the reader's number and the tag's, rotated by one byte; the answer is the reader's, rotated.
    mutating func proveAES(_ random: [UInt8], _ key: [UInt8], _ frame: [UInt8]) -> Result {
        guard frame.count == 33, frame[0] == 0xAF, let cipher = try? AESKey(SecretBytes(key)),
            let both = try? cipher.decrypt(frame[1...]), both[16...].elementsEqual(random[1...] + random[..<1]),
            let proof = try? cipher.encrypt(both[1..<16] + both[..<1])
        else {
            if protection.wrongPasswords > 0 { memory.wrongPasswords += 1 }
            return .refusal(Self.wrongArgument)
        }
        open()
        if protection.wantsCodes {
            var vector: [UInt8] = [0x5A, 0xA5, 0x00, 0x01, 0x00, 0x80, both[0], both[1]]
            for place in 0..<6 { vector.append(both[2 + place] ^ random[place]) }
            vector += random[6...] + both[8..<16]
            codes = (try? cipher.cmac(vector)).map { ($0, 0) }
        }
        return .data([0x00] + proof)
    }

    /// Every second byte of the CMAC over the number of messages and this one.
    mutating func nextCode(of message: [UInt8]) -> [UInt8] {
        guard let (key, count) = codes,
            let mac = try? AESKey(SecretBytes(key)).cmac(
                [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)] + message)
        else { return [] }
        codes?.count = count &+ 1
        return [1, 3, 5, 7, 9, 11, 13, 15].map { mac[$0] }
    }
}
