// SPDX-License-Identifier: Apache-2.0

import CardModel
import DumpFormats
import Testing

@Suite("Logs of FeliCa packets")
struct FeliCaLogTests {
    private static let idm = "0102030405060708"
    private static let polling = ("060088B40000", "1201" + idm + "00F1000000014300")

    /// A log of commands with their answers; `-` for none.
    private static func read(_ exchanges: [(String, String)]) throws(DocumentError) -> CardDump? {
        var entries: [String] = []
        for (command, answer) in exchanges {
            entries.append(#"{"type":"COMMAND","timestamp_ns":0,"data":"\#(command)"}"#)
            if answer != "-" { entries.append(#"{"type":"RESPONSE","timestamp_ns":1,"data":"\#(answer)"}"#) }
        }
        let text = "[" + entries.joined(separator: ",") + "]"
        return try DumpFormatRegistry.standard.read(Array(text.utf8), as: "felica-tool-log").dumps.first
    }

    private static func reading(_ service: String, _ element: String, _ block: String) -> (String, String) {
        let count = String(14 + element.count / 2, radix: 16)
        return ("\(count.count < 2 ? "0" : "")\(count)06\(idm)01\(service)01\(element)", "1D07\(idm)000001\(block)")
    }

    private static let zeros = String(repeating: "00", count: 16)
    private static let ones = String(repeating: "11", count: 16)

    @Test("FeliCa Lite has one IDm for both of its systems: blocks belong to the one that was polled last")
    func oneIDmTwoSystems() throws {
        let ndef = ("060012FC0000", Self.polling.1)
        let dump = try #require(
            try Self.read([
                Self.polling, Self.reading("0B00", "8082", Self.zeros), ndef, Self.reading("0B00", "8000", Self.ones),
                Self.polling, Self.reading("0B00", "008200", Self.ones),
            ]))
        #expect(dump.systems.map(\.systemCode) == [.lite, .ndef])
        #expect(dump.systems.map(\.idm.description) == [Self.idm, Self.idm])
        // Read again, the last answer counts; the number of a block may take two bytes.
        #expect(dump.systems[0].services.first?.blocks[0x82]?.description == Self.ones)
        #expect(dump.systems[1].services.first?.blocks[0]?.description == Self.ones)
        #expect(dump.isComplete)
    }

    @Test("Commands without an answer, and refused ones, leave nothing")
    func refused() throws {
        let dump = try #require(
            try Self.read([
                Self.polling, ("1006\(Self.idm)010B00018020", "0C07\(Self.idm)01A8"), ("0A0C\(Self.idm)", "-"),
                ("0A04\(Self.idm)", "0B05\(Self.idm)00"),
            ]))
        #expect(dump.systems.map(\.services.count) == [0])
    }

    /// What is wrong, and where.
    static let wrong: [(name: String, exchanges: [(String, String)], error: DocumentError)] = [
        ("no card", [("0600FFFF0100", "-")], .missing(key: "[].data of an answer to Polling")),
        (
            "a system that nothing names", [("0600FFFF0000", polling.1)],
            .missing(key: "[].data of a Polling with a system code")
        ),
        (
            "a packet of another length", [("0600FFFF01", "-")],
            .malformed(key: "[0].data", expected: .init(.packetLength))
        ),
        ("no digits", [("06GG", "-")], .malformed(key: "[0].data", expected: .init(.packetInHex))),
        ("half a byte", [("060", "-")], .malformed(key: "[0].data", expected: .init(.packetInHex))),
        (
            "nothing", [("", "-")],
            .malformed(key: "[0].data", expected: .init(.packetLength))
        ),
        (
            "the answer to another command", [polling, ("0A0C\(idm)", "0C07\(idm)01A8")],
            .malformed(key: "[3].data", expected: .init(.matchingAnswer))
        ),
        (
            "another card's answer", [polling, ("1006\(idm)010B00018020", "0C07110203040506070801A8")],
            .malformed(key: "[3].data", expected: .init(.matchingAnswer))
        ),
        (
            "fewer blocks than asked for",
            [polling, ("1206\(idm)010B000280208021", "1D07\(idm)000001\(zeros)")],
            .malformed(key: "[3].data", expected: .init(.matchingAnswer))
        ),
        (
            "a block of a service that was not named",
            [polling, ("1006\(idm)010B00018100", "1D07\(idm)000001\(zeros)")],
            .malformed(key: "[2].data", expected: .init(.packet))
        ),
        (
            "a list of blocks that ends too early", [polling, ("0E06\(idm)010B0001", "1D07\(idm)000001\(zeros)")],
            .malformed(key: "[2].data", expected: .init(.packet))
        ),
    ]

    @Test("A broken log names the packet", arguments: wrong.indices)
    func broken(_ index: Int) throws {
        let row = Self.wrong[index]
        #expect(throws: row.error, "\(row.name)") { try Self.read(row.exchanges) }
    }

    @Test("Leaves other logs to other formats")
    func others() throws {
        for text in ["[]", "[1]", #"[{"type":"COMMAND"}]"#, #"{"type":"COMMAND","timestamp_ns":0,"data":""}"#] {
            #expect(try DumpFormatRegistry.standard.recognize(Array(text.utf8)) == nil)
        }
        let answerFirst = #"[{"type":"RESPONSE","timestamp_ns":0,"data":"1201\#(Self.idm)00F1000000014300"}]"#
        #expect(
            throws: DocumentError.malformed(key: "[0].data", expected: .init(.matchingAnswer))
        ) { try DumpFormatRegistry.standard.read(Array(answerFirst.utf8)) }
        let neither = #"[{"type":"EVENT","timestamp_ns":0,"data":"0600FFFF0100"}]"#
        #expect(throws: DocumentError.malformed(key: "[0].type", expected: .init(.oneOf, "COMMAND", "RESPONSE"))) {
            try DumpFormatRegistry.standard.read(Array(neither.utf8))
        }
    }
}
