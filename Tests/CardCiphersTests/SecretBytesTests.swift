// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import Testing

@Suite("Secrets")
struct SecretBytesTests {
    /// Every secret type; each holds the bytes `SECRETSECRETSECR`.
    static func secrets() throws -> [any CustomStringConvertible] {
        let bytes = SecretBytes("SECRETSECRETSECR".utf8)
        return [bytes, try TripleDESKey(bytes)]
    }

    @Test func tellsNothing() throws {
        for secret in try Self.secrets() {
            var dumped = ""
            dump(secret, to: &dumped)
            dump([secret], to: &dumped)
            for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
                #expect(text.contains("Redacted"), "\(text)")
                #expect(!text.contains("SECR") && !text.contains("83, 69") && !text.contains("53454"), "\(text)")
            }
            #expect(Mirror(reflecting: secret).children.isEmpty)
        }
    }

    /// Asked of the type at run time, since a new conformance would compile.
    @Test func cannotBeComparedOrEncoded() throws {
        for secret in try Self.secrets() as [Any] {
            #expect(!(secret is any Encodable) && !(secret is any Decodable))
            #expect(!(secret is any Hashable) && !(secret is any Equatable))
        }
    }

    @Test func wiped() {
        let secret = SecretBytes([1, 2, 3])
        #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
        secret.wipe()
        #expect(secret.withUnsafeBytes { Array($0) } == [0, 0, 0])
        #expect(secret.count == 3)
        let none = SecretBytes([UInt8]())
        none.wipe()
        #expect(none.count == 0)
    }
}
