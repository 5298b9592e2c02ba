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
