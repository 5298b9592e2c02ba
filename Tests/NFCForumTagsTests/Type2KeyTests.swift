// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardCiphers
import NDEF
import ReaderCore
import TestSupport
import Testing

@testable import NFCForumTags

@Suite("Authentication with the key of an Ultralight C")
struct Type2KeyTests {
    static func key(_ text: String = "IEMKAERB!NACUOYF") throws -> TagKey {
        try #require(TagKey(SecretBytes(text.utf8)))
    }

    static func tripleDES() throws -> TripleDESKey { try TripleDESKey(SecretBytes("IEMKAERB!NACUOYF".utf8)) }

    /// The numerical example of NXP's data sheet MF0ICU2.
    @Test("Each byte of the example of the data sheet")
    func example() throws {
        let challenge = try Hex.decode("AF 577293FD2F34CA51")
        let run = try #require(
            Type2Authentication(challenge: challenge, key: Self.tripleDES(), random: 0xA8AF_3B25_6C75_ED40))
        #expect(try run.reply == Hex.decode("AF 0A638559FC7737F9 F15D7862EBBE967A"))
        #expect(try run.isProof(Hex.decode("00 3B884FA07C137CE1")))
        #expect(try !run.isProof(Hex.decode("00 3B884FA07C137CE0")))
        #expect(try !run.isProof(Hex.decode("AF 3B884FA07C137CE1")))
        #expect(!run.isProof([0]) && !run.isProof([]))
        for other in [[], [0xAF], [UInt8](repeating: 0xAF, count: 8), [0] + [UInt8](repeating: 1, count: 8)] {
            #expect(try Type2Authentication(challenge: other, key: Self.tripleDES(), random: 0) == nil)
        }
    }

    @Test("Protected pages are read and written with the key, after a new selection too")
    func readsAndWrites() throws {
        let (tag, reader) = try ProtectedTag.make(from: 5)
        #expect(throws: TagError.noNDEF(.notReadable)) { try tag.readNDEF() }
        try tag.authenticate(Self.key())
        #expect(tag.isAuthenticated)
        #expect(try tag.readNDEF() == NDEFArea(message: [0xD0, 0, 0], capacity: 142, obstacle: nil))
        #expect(throws: TagError.refused(page: 0x2C, nak: 0)) { try tag.read(page: 0x2C) }
        #expect(try tag.read(page: 5).first == 0, "the refusal ended the authentication, which was begun again")
        reader.troubles = [reader.count + 3]
        let message = try NDEFMessage([NDEFRecord(.text(NDEFText("with a key", language: "en")))]).encoded()
        try tag.writeNDEF(message)
        #expect(try tag.readNDEF().message == message)
    }

    @Test(
        "Pages that READ rolls over to are not taken for those that need the key",
        arguments: 1...4 as ClosedRange<UInt8>)
    func rollOver(page: UInt8) throws {
        let (tag, _) = try ProtectedTag.make(from: page + 3)
        _ = try tag.product()
        _ = try tag.page(3)
        #expect(tag.memory.pages.keys.sorted() == (3..<UInt16(min(page + 3, 7))).map { $0 })
        try tag.authenticate(Self.key())
        #expect(try tag.page(5) == [0x00, 0xFE, 0x00, 0x00])
    }

    @Test("Writing only: read without a key, written with it")
    func writingOnly() throws {
        let (tag, _) = try ProtectedTag.make(from: 4, writingOnly: true)
        #expect(try tag.readNDEF().obstacle == .passwordProtected(page: 4))
        #expect(throws: TagError.notWritable(.passwordProtected(page: 4))) { try tag.writeNDEF([0xD0, 0, 0]) }
        try tag.authenticate(Self.key())
        #expect(try tag.readNDEF().obstacle == nil)
        try tag.writeNDEF([])
        #expect(try tag.readNDEF().message == [])
    }

    @Test("A Capability Container that grants access with the key", arguments: [0x88, 0x08, 0x0F] as [UInt8])
    func proprietaryAccess(access: UInt8) throws {
        let (tag, _) = try ProtectedTag.make(from: 0x30, access: access)
        if access == 0x88 {
            #expect(throws: TagError.noNDEF(.notReadable)) { try tag.readNDEF() }
        } else {
            #expect(try tag.readNDEF().obstacle == .readOnly)
        }
        try tag.authenticate(Self.key())
        #expect(try tag.readNDEF().obstacle == (access == 0x0F ? .readOnly : nil))
    }

    @Test("A wrong key is rejected, and the tag stays usable without it")
    func wrongKey() throws {
        let (tag, _) = try ProtectedTag.make(from: 5)
        #expect(throws: TagError.keyRefused) { try tag.authenticate(Self.key("BREAKMEIFYOUCAN!")) }
        #expect(!tag.isAuthenticated)
        #expect(try tag.read(page: 4).prefix(4) == [3, 3, 0xD0, 0])
        try tag.authenticate(Self.key())
        #expect(throws: TagError.keyRefused) { try tag.authenticate(Self.key("BREAKMEIFYOUCAN!")) }
        #expect(!tag.isAuthenticated)
    }

    @Test("Other tags have no key")
    func otherTags() throws {
        let reader = try Type2Memories.fresh213()
        #expect(throws: TagError.takesNoKey) { try reader.tag.authenticate(Self.key()) }
        #expect(!reader.frames.contains { $0.first == 0xAF })
    }

    @Test("A tag that cannot prove its key is rejected")
    func noProof() throws {
        let reader = FakeType2Reader(try Type2Memories.pages("04010203 04050607", count: 48), version: nil)
        reader.isUltralightC = true
        let tag = reader.tag
        #expect(try tag.product() == .ultralightC)
        reader.troubles[reader.frames.count + 2] = .answer([0x00] + [UInt8](repeating: 7, count: 8))
        #expect(throws: TagError.keyRefused) { try tag.authenticate(Self.key()) }
        #expect(!tag.isAuthenticated)
    }

    @Test("An unanswered second part: three attempts, then the key counts as rejected")
    func silence() throws {
        let (tag, reader) = try ProtectedTag.make(from: 5)
        _ = try tag.product()
        let before = reader.count
        reader.troubles = Set((1...40).map { before + 2 * $0 })
        #expect(throws: TagError.keyRefused) { try tag.authenticate(Self.key()) }
        #expect(reader.count == before + 6)
    }

    @Test("One lost exchange anywhere changes nothing", arguments: 1...24)
    func oneLoss(exchange: Int) throws {
        let (tag, reader) = try ProtectedTag.make(from: 5)
        reader.troubles = [exchange]
        try tag.authenticate(Self.key())
        try tag.writeNDEF([0xD0, 0, 0])
        #expect(try tag.readNDEF().message == [0xD0, 0, 0])
    }
}
