// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import COpenSSL

/// SHA-256, by OpenSSL.
package enum MessageDigest {
    /// Returns the 32 bytes of the digest.
    package static func sha256(_ message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let made = unsafe EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil)
        return made == 1 ? digest : []
    }
}

/// HMAC-SHA256 (RFC 2104), by OpenSSL.
package enum MessageAuthentication {
    /// Returns the 32 bytes of the code.
    package static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let made = unsafe HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &code, &length)
        return unsafe made == nil ? [] : code
    }
}

/// Replaces card numbers, so that events of a card can be linked without revealing its number.
package struct IdentityKey: Sendable {
    private let key: [UInt8]

    package init(_ key: [UInt8]) { self.key = key }

    /// The first 16 bytes of HMAC-SHA256 over the number, in lower-case hexadecimal.
    package func tag(of number: [UInt8]) -> String {
        Hex.encode(MessageAuthentication.sha256(key: key, number).prefix(16))
    }
}
