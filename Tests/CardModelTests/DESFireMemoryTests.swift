// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

@Suite("MIFARE DESFire in a dump") struct DESFireMemoryTests {
    private static let rights = #""access":{"read":"free","write":1,"readWrite":"never","change":0}"#
    private static let bytes = #"{"number":1,"type":"standard","mode":"plain",\#(rights),"size":2,"data":"0102"}"#
    private static let value = #"{"number":2,"type":"value","mode":"full",\#(rights),"lower":-5,"upper":9,"value":7}"#
    private static let records = #"""
        {"number":3,"type":"cyclic","mode":"mac",\#(rights),"recordSize":1,"maxRecords":4,"records":2,"contents":["0a","0b"]}
        """#

    private static func document(_ files: String, more: String = "", withheld: String = "") -> String {
        """
        {"schema":"kazasu.dump/1","card":{"technology":"typeA"},"desfire":{"product":"MIFARE DESFire EV1 8K",\
        "version":{"hardware":"04010101001a05","software":"04010101041a05"},"freeMemory":null,\
        "originality":{"state":"absent","key":null},"picc":{"settings":"0F","keyType":"des","keyVersion":0},\
        "applications":[{"aid":"F5A1C0","settings":"0B","keyType":"aes","keys":2,"keyVersions":[1,2],"name":null,\
        "files":[\(files)]}\(more)],"withheld":[\(withheld)],"later":[1]}}
        """
    }

    private static func dump(_ files: String) throws -> CardDump { try CardDump(parsing: Array(document(files).utf8)) }

    @Test("The document keeps contents, what was withheld, and members of later versions")
    func document() throws {
        let withheld = #"{"aid":"030201","part":"files","file":null},{"aid":"F5A1C0","part":"contents","file":4}"#
        let text = Self.document([Self.bytes, Self.value, Self.records].joined(separator: ","), withheld: withheld)
        let dump = try CardDump(parsing: Array(text.utf8))
        let memory = try #require(dump.desfire)
        #expect(memory.applications.map(\.id) == [0xF5A1C0] && memory.applications.first?.files.count == 3)
        let files = memory.applications.first?.files ?? []
        #expect(files.map(\.contents) == [.data([1, 2]), .value(7), .records([[10], [11]])])
        #expect(files.first?.rights == [14, 1, 15, 0])
        #expect(memory.isWithheld(.files, of: 0x030201) && !memory.isWithheld(.files, of: 0xF5A1C0))
        #expect(dump.document.contains(#""later": [1]"#))
        #expect(try CardDump(parsing: Array(dump.document.utf8)) == dump)
    }

    static let broken = [
        (bytes.replacing(#""0102""#, with: #""01""#), "data"), (bytes.replacing("standard", with: "other"), "type"),
        (bytes.replacing("plain", with: "open"), "mode"), (bytes.replacing("free", with: "all"), "read"),
        (bytes.replacing(#""write":1"#, with: #""write":14"#), "write"),
        (bytes.replacing(#""number":1"#, with: #""number":32"#), "number"),
        (bytes + "," + bytes, "files"), (value.replacing(#""upper":9"#, with: #""upper":-6"#), "upper"),
        (value.replacing(#""value":7"#, with: #""value":4294967296"#), "value"),
        (records.replacing(#","0b""#, with: ""), "contents"), (records.replacing("0b", with: "0b0c"), "contents"),
        (records.replacing(#""records":2"#, with: #""records":5"#), "records"),
        (records.replacing(#""recordSize":1"#, with: #""recordSize":0"#), "recordSize"), ("7", "files"),
    ]

    @Test("A faulty part is refused with its place", arguments: broken)
    func refused(_ files: String, _ key: String) {
        let error = #expect(throws: DocumentError.self) { try Self.dump(files) }
        let message = error?.message.english ?? ""
        #expect(message.contains("desfire") && message.contains(key), "\(message)")
    }

    @Test("An application that is listed twice, and an unknown part that was withheld, are refused")
    func refusedLists() {
        let twice = #",{"aid":"F5A1C0","keyVersions":[],"files":[]}"#
        for text in [Self.document("", more: twice), Self.document("", withheld: #"{"aid":"F5A1C0","part":"keys"}"#)] {
            #expect(throws: DocumentError.self) { try CardDump(parsing: Array(text.utf8)) }
        }
    }

    @Test("Bytes, values and records that differ, and files that appear or vanish")
    func difference() throws {
        let old = try Self.dump([Self.bytes, Self.value, Self.records].joined(separator: ","))
        #expect(DumpDiff(old, old).isEmpty)
        let moved = Self.records.replacing(#"["0a","0b"]"#, with: #"["0b","0c"]"#)
        let new = try Self.dump(
            [
                Self.bytes.replacing("0102", with: "0103"), Self.value.replacing(#""value":7"#, with: #""value":6"#),
                moved,
            ].joined(separator: ","))
        let changes = DumpDiff(old, new).desfire
        #expect(changes.map(\.file) == [1, 2, 3] && changes.allSatisfy { $0.application == 0xF5A1C0 })
        #expect(changes.first?.rows.first?.changedBytes == [1])
        #expect(changes[1].value?.old == 7 && changes[1].value?.new == 6)
        // The oldest record was dropped and one was added: the one that moved up did not change.
        #expect(changes[2].records.map(\.old) == [[10], nil] && changes[2].records.map(\.new) == [nil, [12]])
        let fewer = DumpDiff(old, try Self.dump(Self.bytes.replacing(#""write":1"#, with: #""write":2"#))).desfire
        #expect(fewer.map(\.file) == [1, 2, 3] && fewer.map(\.hasOtherSettings) == [true, false, false])
        #expect(fewer.map(\.newState) == [.read, nil, nil])
        let closed = Self.bytes.replacing(#","data":"0102""#, with: "")
        let read = DumpDiff(try Self.dump(closed), try Self.dump(Self.bytes)).desfire
        #expect(read.first?.oldState == .withheld && read.first?.newState == .read && read.count == 1)
        let without = CardDump(card: .typeA(uid: [1, 2, 3, 4], bitRate: nil))
        #expect(DumpDiff(without, old).desfire.count == 5 && DumpDiff(old, without).desfire.count == 5)
    }
}
