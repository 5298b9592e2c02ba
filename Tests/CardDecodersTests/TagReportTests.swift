// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import NDEF
import Testing

@testable import CardDecoders

/// What dumps of tags say of their NDEF message, by the rules of the NFC Forum's Type 3 and Type 4 Tag specifications.
@Suite("NDEF messages in dumps of tags")
struct TagReportTests {
    private typealias State = TagReport.NDEFState

    /// A short text record of 20 bytes.
    private static let message: [UInt8] = [0xD1, 0x01, 0x10, 0x54, 0x02, 0x65, 0x6E] + Array("Hello, world!".utf8)

    // MARK: Type 3

    /// A tag of three blocks with the message in it, whose attributes may be changed.
    private static func type3(
        blocks: Int = 3, isSummed: Bool = true, _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> CardDump {
        var attributes: [UInt8] = [0x10, 4, 1, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 20]
        change(&attributes)
        let sum = attributes.reduce(isSummed ? 0 : 1) { $0 + Int($1) }
        attributes += [UInt8(sum >> 8), UInt8(sum & 0xFF)]
        let memory = Self.message + [UInt8](repeating: 0, count: 48 - Self.message.count)
        var table = BlockTable([(UInt16(0), try #require(Block(attributes)))])
        for number in 0..<blocks { table[UInt16(number + 1)] = Block(memory[number * 16..<number * 16 + 16]) }
        let service = ServiceDump(code: ServiceCode(rawValue: 0x000B), state: .read, blocks: table)
        let system = SystemDump(
            systemCode: .ndef, idm: IDm(rawValue: 1), pmm: PMm(rawValue: 2), services: [service])
        return CardDump(card: CardIdentity(technology: .felica), systems: [system])
    }

    @Test("A card of FeliCa Lite that readers do not find as a tag is of Type 3 all the same")
    func liteWithoutSystem() throws {
        var dump = try CardFixture(name: "felica-lite-s").dump()
        dump.systems.removeAll { $0.systemCode == .ndef }
        let report = try #require(TagReport(dump))
        #expect(report.type == 3 && report.lite != nil && report.ndef == .none(.notAnnounced))
    }

    @Test("Page 3 of a Type 2 Tag is told as it is")
    func page3() throws {
        let memory = Type2Dump(pages: [2: [0, 0, 0, 0], 3: [0xE1, 0x10, 0x12, 0x00], 4: [3, 0, 0xFE, 0]])
        var dump = CardDump(card: CardIdentity(technology: .typeA))
        dump.type2 = memory
        let fields = try #require(TagReport(dump)).fields
        #expect(fields.first { $0.key == "page3" }?.value == "E1101200")
        #expect(fields.contains { $0.key == "lockedPages" })
        dump.type2?.pages[2] = nil
        dump.type2?.counters = [2: 5, 0: 7]
        let others = try #require(TagReport(dump)).fields
        #expect(!others.contains { $0.key == "lockedPages" })
        #expect(others.map(\.key).filter { $0.hasPrefix("counter") } == ["counter0", "counter2"])
    }

    @Test("A Type 2 Tag has no system, and is recognized all the same")
    func type2IsRecognized() {
        var dump = CardDump(card: CardIdentity(technology: .typeA))
        dump.type2 = Type2Dump(pages: [3: [0xE1, 0x10, 0x12, 0x00]])
        #expect(DecoderRegistry.standard.recognizing(dump).map(\.kind) == ["ndef"])
    }

    @Test("Text on a card is printable ASCII, from blank to tilde")
    func text() {
        #expect(CardText.ascii([0x41, 0x7E, 0x20, 0x00, 0xFF]) == "A~")
        #expect(CardText.ascii([0x41, 0x7F]) == nil && CardText.ascii([0x1F]) == nil && CardText.ascii([0x20]) == nil)
    }

    private static func state(_ dump: CardDump) -> State? { TagReport(dump)?.ndef }

    @Test("Type 3: attributes that allow a message, and those that do not")
    func type3States() throws {
        let whole = State.message(Self.message, capacity: 48, isWritable: true)
        #expect(try Self.state(Self.type3()) == whole)
        #expect(try Self.state(Self.type3(blocks: 2)) == whole)
        #expect(try Self.state(Self.type3(blocks: 1)) == State.none(.notRead))
        #expect(try Self.state(Self.type3(isSummed: false)) == State.none(.checksum))
        #expect(try Self.state(Self.type3 { $0[0] = 0x1F }) == whole)
        #expect(try Self.state(Self.type3 { $0[0] = 0x20 }) == State.none(.unknownVersion))
        #expect(try Self.state(Self.type3 { $0[0] = 0x01 }) == State.none(.unknownVersion))
        #expect(try Self.state(Self.type3 { $0[9] = 0x0F }) == State.none(.halfWritten))
        #expect(
            try Self.state(Self.type3 { $0[10] = 0 }) == .message(Self.message, capacity: 48, isWritable: false))
        #expect(try Self.state(Self.type3 { $0[13] = 0 }) == .message([], capacity: 48, isWritable: true))
        #expect(try Self.state(Self.type3 { $0[13] = 49 }) == State.none(.lengthBeyondEnd))
        #expect(try Self.state(Self.type3 { ($0[12], $0[13]) = (1, 0) }) == State.none(.lengthBeyondEnd))
        guard case .message(let bytes, _, _)? = try Self.state(Self.type3 { $0[13] = 48 }) else {
            Issue.record("a tag may be full")
            return
        }
        #expect(bytes.count == 48 && bytes.prefix(20) == Self.message[...])
        let full = try #require(TagReport(Self.type3 { $0[13] = 48 }))
        #expect(full.fields.contains { $0.key == "record1" } && !full.fields.contains { $0.key == "message" })
    }

    // MARK: Type 4

    /// A Capability Container, byte for byte as the specification's example but for the lengths.
    private static let container: [UInt8] = [
        0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04, 0x00, 0x32, 0x00, 0x00,
    ]

    private static func type4(
        file: [UInt8]? = [0, 20] + message, _ change: (inout [UInt8]) -> Void = { _ in }
    ) throws -> CardDump {
        var container = Self.container
        change(&container)
        let state = file == nil ? ReadState.refused(status: 0x6982) : .read
        return CardDump(
            card: CardIdentity(technology: .typeA),
            applications: [
                ApplicationDump(
                    aid: AID("D2760000850101"),
                    files: [
                        FileDump(id: FileIdentifier(rawValue: 0xE103), state: .read, data: container),
                        FileDump(id: FileIdentifier(rawValue: 0xE104), state: state, data: file ?? []),
                    ])
            ])
    }

    @Test("Type 4: containers and files with a message, and those without")
    func type4States() throws {
        let whole = State.message(Self.message, capacity: 48, isWritable: true)
        #expect(try Self.state(Self.type4()) == whole)
        #expect(try TagReport(Self.type4())?.type == 4)
        let long = [UInt8](repeating: 0x41, count: 276)
        #expect(
            try Self.state(Self.type4(file: [0x01, 0x14] + long) { ($0[11], $0[12]) = (0x02, 0) })
                == .message(long, capacity: 510, isWritable: true))
        for version in [0x10, 0x30] as [UInt8] { #expect(try Self.state(Self.type4 { $0[2] = version }) == whole) }
        for version in [0x00, 0x40] as [UInt8] {
            #expect(try Self.state(Self.type4 { $0[2] = version }) == State.none(.unknownVersion))
        }
        #expect(try Self.state(Self.type4 { $0[13] = 0x80 }) == State.none(.notReadable))
        #expect(
            try Self.state(Self.type4 { $0[14] = 0xFF }) == .message(Self.message, capacity: 48, isWritable: false))
        #expect(try Self.state(Self.type4 { $0.removeLast(8) }) == State.none(.brokenCapability))
        #expect(try Self.state(Self.type4(file: nil)) == State.none(.notReadable))
        #expect(try Self.state(Self.type4(file: [0])) == State.none(.notRead))
        #expect(try Self.state(Self.type4(file: [0, 0])) == .message([], capacity: 48, isWritable: true))
        #expect(try Self.state(Self.type4(file: [0, 20] + Self.message.dropLast())) == State.none(.notRead))
        #expect(try Self.state(Self.type4(file: [0, 49] + Self.message)) == State.none(.lengthBeyondEnd))
        #expect(try Self.state(Self.type4(file: [1, 0] + Self.message)) == State.none(.lengthBeyondEnd))
        let full = [UInt8](repeating: 7, count: 48)
        #expect(try Self.state(Self.type4(file: [0, 48] + full)) == .message(full, capacity: 48, isWritable: true))
        // Bytes after the message are not part of it.
        #expect(try Self.state(Self.type4(file: [0, 20] + Self.message + [9])) == whole)
    }

    // MARK: Fields

    private static func texts(_ dump: CardDump) throws -> [String] {
        try NDEFDecoder().decode(dump).fields.map { "\($0.key)=\($0.value)\($0.isPersonal ? "!" : "")" }
    }

    @Test("The fields of a report")
    func fields() throws {
        let type4 = try Self.texts(Self.type4())
        #expect(type4.prefix(5) == ["version=2.0", "mle=59", "mlc=52", "capacity=48", "writable=yes"])
        #expect(type4.count == 6 && type4[5].hasPrefix("record1=") && type4[5].hasSuffix("!"))
        let locked = try Self.texts(Self.type4 { $0[14] = 0xFF })
        #expect(locked[4] == "writable=no")
        #expect(try Self.texts(Self.type4(file: nil)).last == "message=notReadable")
        #expect(try Self.texts(Self.type4(file: [0, 1, 0xD1])).last?.hasPrefix("message=") == true)
        #expect(try Self.texts(Self.type4(file: [0, 0])).last == "writable=yes")
    }
}
