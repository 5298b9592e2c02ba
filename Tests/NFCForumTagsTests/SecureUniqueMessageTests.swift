// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import Testing

@testable import NFCForumTags

@Suite("SUN messages of NTAG 424 DNA")
struct SecureUniqueMessageTests {
    static let base = "https://example.com/t?"

    private func check(_ query: String, key: UInt8 = 0) throws -> SecureUniqueMessage.Contents? {
        let message = try #require(SecureUniqueMessage(url: Self.base + query))
        let bytes = [UInt8](repeating: key, count: 16)
        return try message.contents(metaKey: SecretBytes(bytes), fileKey: SecretBytes(bytes))
    }

    /// D1 to D4: NXP's application note and the public suite.
    @Test("Published messages")
    func vectors() throws {
        let first = try check("e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086")
        #expect(first?.uid == [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40] && first?.counter == 61)
        let second = try check(
            "picc_data=FD91EC264309878BE6345CBE53BADF40&enc=CEE9A53E3E463EF1F459635736738962&cmac=ECC1E7F6C6C73BF6")
        #expect(second?.uid == [0x04, 0x95, 0x8C, 0xAA, 0x5C, 0x5E, 0x80] && second?.counter == 8)
        #expect(second?.fileData == Array("xxxxxxxxxxxxxxxx".utf8))
        let third = try check("uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3")
        #expect(third?.uid == [0x04, 0x1E, 0x3C, 0x8A, 0x2D, 0x6B, 0x80] && third?.counter == 6)
        let fourth = try check(
            "picc_data=07D9CA2545881D4BFDD920BE1603268C0714420DD893A497&enc=D6E921C47DB4C17C56F979F81559BB83&cmac=F9481AC7D855BDB6"
        )
        #expect(fourth?.uid == [0x04, 0x9B, 0x11, 0x2A, 0x2F, 0x70, 0x80] && fourth?.counter == 4)
        #expect(fourth?.isLRP == true && fourth?.fileData == Array("NTXXb7dz3PsYYBlU".utf8))
    }

    /// D12, and another key.
    static let wrong = [
        "e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337087",
        "picc_data=FD91EC264309878BE6345CBE53BADF40&enc=CEE9A53E3E463EF1F459635736738963&cmac=ECC1E7F6C6C73BF6",
        "uid=041E3C8A2D6B80&ctr=000007&cmac=4B00064004B0B3D3",
        "uid=041E3C8A2D6B81&ctr=000006&cmac=4B00064004B0B3D3",
        "picc_data=07D9CA2545881D4BFDD920BE1603268C0714420DD893A498&enc=D6E921C47DB4C17C56F979F81559BB83&cmac=F9481AC7D855BDB6",
    ]

    @Test("A changed message does not pass", arguments: wrong)
    func changed(query: String) throws {
        #expect(try check(query) == nil)
    }

    @Test("Another key does not pass")
    func otherKey() throws {
        #expect(try check("e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086", key: 1) == nil)
        #expect(try check("uid=041E3C8A2D6B80&ctr=000006&cmac=4B00064004B0B3D3", key: 1) == nil)
    }

    // MARK: What the MAC covers

    /// A tag with the key 00112233…, counter 61 and 32 bytes of file data, made with the library `cryptography` of Python.
    static let picc = "9E3B69569260B58D79B3D0E9E06C9011"
    static let enc = "E0C23AE16B7C6B08C667BA62687CBA8814E94CE8E89AE3783A5AC8F4EC1AAA7A"
    static let key: [UInt8] = (0..<16).map { $0 * 0x11 }
    static let order = Array("order=000001;amt=0000100;ok=yes!".utf8)

    private func message(_ query: String) throws -> (SecureUniqueMessage, SecureUniqueMessage.Contents?)? {
        guard let message = SecureUniqueMessage(url: Self.base + query) else { return nil }
        return (message, try message.contents(metaKey: SecretBytes(Self.key), fileKey: SecretBytes(Self.key)))
    }

    /// A query, the part that its MAC covers, whether there is file data in it, and what anybody can change.
    static let covered: [(query: String, covered: String, hasFileData: Bool, notCovered: [String])] = [
        ("picc=\(picc)&enc=\(enc)&cmac=4A028D52BCE4A306", "\(enc)&cmac=", true, ["\(base)picc="]),
        ("picc=\(picc)&enc=\(enc)&cmac=8C8A7171DF70A7B2", "enc=\(enc)&cmac=", true, ["\(base)picc="]),
        (
            "picc=\(picc)&enc=\(enc)&cmac=38EB8896E5BE3ECD", "picc=\(picc)&enc=\(enc)&cmac=", true, [base]
        ),
        ("picc=\(picc)&cmac=55F64611BA56236D", "", false, ["\(base)picc="]),
        // F20: the MAC first.
        ("cmac=55F64611BA56236D&picc=\(picc)", "", false, ["\(base)cmac="]),
        // Nothing covers what was put in.
        (
            "x=\(enc)&picc=\(picc)&cmac=55F64611BA56236D", "", false, ["\(base)x=\(enc)&picc="]
        ),
        (
            "picc=\(picc)&x=1&cmac=55F64611BA56236D", "", false, ["\(base)picc=", "&x=1&cmac="]
        ),
        ("picc=\(picc)&cmac=55F64611BA56236D&amount=9", "", false, ["\(base)picc=", "&amount=9"]),
        ("picc=\(picc)&cmac=55F64611BA56236D#x", "", false, ["\(base)picc=", "#x"]),
        // Behind the MAC a value is not file data.
        ("picc=\(picc)&cmac=55F64611BA56236D&enc=\(enc)", "", false, ["\(base)picc=", "&enc=\(enc)"]),
        ("picc=\(picc)&enc=\(enc)&cmac=55F64611BA56236D", "", false, ["\(base)picc=", "&enc=\(enc)&cmac="]),
    ]

    @Test("A2: file data comes from the covered part alone, and the rest is named", arguments: covered)
    func covers(row: (query: String, covered: String, hasFileData: Bool, notCovered: [String])) throws {
        let found = try #require(try message(row.query))
        let contents = try #require(found.1)
        #expect(contents.uid == [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40] && contents.counter == 61)
        #expect(contents.covered == row.covered)
        #expect(contents.fileData == (row.hasFileData ? Self.order : nil))
        #expect(found.0.partsNotCovered(contents) == row.notCovered)
    }

    /// Cut, extended and foreign data before the tag's own.
    static let forged = [
        "picc=\(picc)&x=\(enc.prefix(32))&enc=\(enc)&cmac=4A028D52BCE4A306",
        "picc=\(picc)&x=\(enc)\(enc)&enc=\(enc)&cmac=4A028D52BCE4A306",
        "picc=\(picc)&x=\(String(repeating: "41", count: 16))&enc=\(enc)&cmac=4A028D52BCE4A306",
        "x=\(picc)&picc=\(picc)&enc=\(enc)&cmac=4A028D52BCE4A306",
        "uid=04DE5F1EACC040&ctr=00003D&x=\(enc)&enc=\(enc)&cmac=4A028D52BCE4A306",
    ]

    @Test("Two values before the MAC that may be file data are not a message", arguments: forged)
    func ambiguous(query: String) throws {
        #expect(try message(query) == nil)
    }

    @Test("File data is never other than what the tag enciphered, whatever is changed, cut or put in")
    func everyChange() throws {
        let url = Array("picc=\(Self.picc)&enc=\(Self.enc)&cmac=4A028D52BCE4A306".utf8)
        var tried = 0
        func check(_ bytes: [UInt8]) throws {
            tried += 1
            guard let contents = try message(String(decoding: bytes, as: UTF8.self))?.1 else { return }
            #expect(
                contents.fileData == nil || contents.fileData == Self.order, "\(String(decoding: bytes, as: UTF8.self))"
            )
        }
        let parts = ["&x=\(Self.enc)", "&x=\(Self.enc.prefix(32))", "&x=1", "#", Self.enc, Self.picc, "&"]
        for place in url.indices {
            for part in parts { try check(url[..<place] + Array(part.utf8) + url[place...]) }
            try check(Array(url[..<place] + url[(place + 1)...]))
            try check(Array(url[place...]))
        }
        #expect(tried > 1000)
    }

    /// How a URL has to begin, and what is left then; `nil` if the URL begins otherwise.
    static let prefixes: [(prefix: String, rest: [String]?)] = [
        ("https://example.com/t?picc=", []), ("https://example.com/t?", []), ("https://example.com/", ["t?picc="]),
        ("https://example.com", ["/t?picc="]), ("https://example.org/", nil), ("http://example.com/", nil),
        ("https://example.co", nil), ("https://exam", nil), ("example.com/", nil), ("https://example.com/u", nil),
    ]

    @Test("A prefix pins what the MAC does not cover", arguments: prefixes)
    func pins(row: (prefix: String, rest: [String]?)) throws {
        let found = try #require(try message("picc=\(Self.picc)&cmac=55F64611BA56236D"))
        #expect(found.0.partsNotCovered(try #require(found.1), prefix: row.prefix) == row.rest)
    }

    static let none = [
        "", "e=EF963FF7828658A599F3041510671E88", "e=EF963FF7828658A599F3041510671E88&c=94EED9EE653370",
        "c=94EED9EE65337086", "uid=041E3C8A2D6B80&cmac=4B00064004B0B3D3", "e=zz&c=94EED9EE65337086",
        "e=EF963FF7828658A599F3041510671E&c=94EED9EE65337086",
    ]

    @Test("A URL without the parts is not one", arguments: none)
    func malformed(query: String) {
        #expect(SecureUniqueMessage(url: Self.base + query) == nil)
    }

    @Test("Any text is taken without a fault")
    func random() throws {
        var generator = SystemRandomNumberGenerator()
        let characters = Array("0123456789ABCDEFabcdefxg?&=/%ü".utf8)
        for _ in 0..<2000 {
            let length = Int.random(in: 0...120, using: &generator)
            let text = String(
                decoding: (0..<length).map { _ in characters.randomElement(using: &generator) ?? 0x30 }, as: UTF8.self)
            guard let message = SecureUniqueMessage(url: text) else { continue }
            let key = SecretBytes([UInt8](repeating: 0, count: 16))
            #expect(try message.contents(metaKey: key, fileKey: key) == nil)
        }
    }
}
