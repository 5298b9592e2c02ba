// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import FoundationEssentials
import TestSupport
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test(
        "The vectors of RFC 4648, section 10",
        arguments: [
            ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ])
    func vectors(text: String, plain: String) { #expect(Base64.decode(text) == Array(plain.utf8)) }

    @Test(
        "Refuses what is not Base64",
        arguments: ["Z", "Zg", "Zg=", "Zg= =", "Z===", "====", "Zm9v!", "Zm-_", "Zm9v\n", "=Zg="])
    func malformed(text: String) { #expect(Base64.decode(text) == nil) }

    @Test("Any bytes come back as Foundation encodes them")
    func random() {
        var generator = SeededGenerator(seed: 64)
        for length in 0..<300 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base64.decode(Data(bytes).base64EncodedString()) == bytes)
        }
    }
}
