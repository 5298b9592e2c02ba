// SPDX-License-Identifier: Apache-2.0

import CardCiphers
import CardDecoders
import CardModel
import CardReading
import struct NDEF.Type2Configuration
import NFCForumTags
import ReaderCore
import Testing
import VirtualReader

@Suite("Dumps of Type 2 Tags that protect reading")
struct Type2DumperTests {
    /// A model, the page of its AUTH0 (ACCESS or AUTH1 follows), the byte of AUTH0 in it, and what protects reading, too.
    struct Model: CustomTestStringConvertible, Sendable {
        let model: Type2Model
        let configuration: Int
        let place: Int
        let access: UInt8
        var testDescription: String { model.rawValue }
    }

    static let models = [
        Model(model: .ultralightC, configuration: 0x2A, place: 0, access: 0x00),
        Model(model: .mf0ul11, configuration: 0x10, place: 3, access: 0x80),
        Model(model: .mf0ul21, configuration: 0x25, place: 3, access: 0x80),
        Model(model: .ntag210, configuration: 0x10, place: 3, access: 0x80),
        Model(model: .ntag213, configuration: 0x29, place: 3, access: 0x80),
        Model(model: .ntag215, configuration: 0x83, place: 3, access: 0x80),
    ]

    /// A tag with another number in each page, protected from one on.
    private func tag(_ row: Model, from page: UInt8) throws -> (Type2Tag, Type2Memory) {
        var memory = try #require(Type2Memory(row.model, uid: [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]))
        for number in 4..<row.configuration - 1 { memory.write(number, [0x5A, UInt8(number), 0, 1]) }
        var first: [UInt8] = [0, 0, 0, 0]
        first[row.place] = page
        memory.write(row.configuration, first)
        memory.write(row.configuration + 1, [row.access, 0, 0, 0])
        let reader = InProcessReader(VirtualType2Tag(memory))
        guard case .typeA(let target)? = try reader.activate(.typeA(isoDEP: false)) else { throw TagError.tagLost }
        return (Type2Tag(reader: reader, target: target), memory)
    }

    @Test("Only the pages before the protected ones, unchanged", arguments: models, 4...15 as ClosedRange<UInt8>)
    func protected(row: Model, page: UInt8) throws {
        let (tag, memory) = try tag(row, from: page)
        let outcome = Type2Dumper(tag: tag).dump()
        #expect(outcome.interruption == nil)
        let dump = try #require(outcome.dump.type2)
        #expect(dump.pages.keys.sorted() == Array(0..<UInt16(page)))
        for (number, bytes) in dump.pages { #expect(bytes == memory[Int(number)], "page \(number)") }
        let configuration = try #require(TagReport(outcome.dump)?.type2?.configuration)
        #expect(configuration.firstProtectedPage == UInt16(page) && configuration.protectsReading)
    }

    @Test("With the key of an Ultralight C every page but those of the key", arguments: [4, 7, 0x28] as [UInt8])
    func withKey(page: UInt8) throws {
        let (tag, memory) = try tag(Self.models[0], from: page)
        let open = Type2Dumper(tag: tag).dump().dump
        #expect(open.type2?.closedFrom != nil)
        try tag.authenticate(#require(TagKey(SecretBytes("IEMKAERB!NACUOYF".utf8))))
        tag.forget()
        let resumed = try #require(Type2Dumper(tag: tag, resuming: open).dump().dump.type2)
        let dump = try #require(Type2Dumper(tag: tag).dump().dump.type2)
        #expect(resumed == dump)
        #expect(dump.pages.keys.sorted() == Array(0..<0x2C))
        for (number, bytes) in dump.pages { #expect(bytes == memory[Int(number)], "page \(number)") }
        #expect(dump.closedFrom == nil)
    }
}
