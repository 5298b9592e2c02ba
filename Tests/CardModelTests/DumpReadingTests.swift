// SPDX-License-Identifier: Apache-2.0

import CardModel
import TestSupport
import Testing

/// A dump is read from notes on its text, and from a tree when the text has anything odd: both say the same.
struct DumpReadingTests {
    private static func fromText(_ bytes: [UInt8]) -> Result<CardDump, DocumentError> {
        Result { () throws(DocumentError) in try CardDump(parsing: bytes) }
    }

    private static func fromTree(_ bytes: [UInt8]) -> Result<CardDump, DocumentError> {
        Result { () throws(DocumentError) in try CardDump(json: JSONValue(parsing: bytes)) }
    }

    @Test(arguments: DumpFixtureTests.cards, [3, 4] as [UInt64])
    func bothSayTheSameOfDamagedTexts(_ name: String, _ seed: UInt64) throws {
        let original = try DumpFixtureTests.card(name)
        #expect(Self.fromText(original) == Self.fromTree(original))
        var random = SeededGenerator(seed: seed)
        let punctuation = Array("{}[]\",:\\0aF-.eE u".utf8)
        for _ in TestEffort.rounds(15) {
            var bytes = original
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] =
                    Bool.random(using: &random)
                    ? punctuation.randomElement(using: &random) ?? 0 : .random(in: 0...255, using: &random)
            }
            #expect(Self.fromText(bytes) == Self.fromTree(bytes))
        }
    }

    private static func dump(_ service: String) -> [UInt8] {
        let system =
            #"{"systemCode":"0003","idm":"0101031234567890","pmm":"0120220427674eff","services":["# + service + "]}"
        return Array(
            (#"{"schema":"kazasu.dump/1","card":{"technology":"felica"},"felica":{"systems":["# + system + "]}}").utf8)
    }

    /// Texts of one service that are not as Kazasu writes them.
    static let odd = [
        #"{"code":"090F","state":"read","blocks":{"0000":"00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF"}}"#,
        #"{"code":"090F","state":"read","blocks":{"0000":"00112233445566778899AABBCCDDEEFF","a":"0x00112233445566778899aabbccddeeff"}}"#,
        #"{"c\u006fde":"09\u0030F","state":"re\u0061d","blocks":{"000\u0030":"0011223344556677\u003800000000000000000"}}"#,
        #"{"code":"090F","state":"read","blocks":{"0000":"00112233445566778899aabbccddeeff","0000":"nonsense"}}"#,
        #"{"code":"090F","state":"read","blocks":{"000a":"00112233445566778899aabbccddeeff","000A":"00"}}"#,
        #"{"code":"090F","code":"108F","state":"read","state":"lost","blocks":{}}"#,
        #"{"code":"090F","state":"read","more":{"a":[1,2.5,"x\n",true,null,{}],"a":2},"blocks":null}"#,
        #"{"code":"090F","state":"refused","status":"01A6","blocks":{}}"#,
        #"{"code":"090F","state":"refused","status":null}"#,
        #"{"code":"090F","state":"read","blocks":[]}"#, #"{"code":"090F","state":"read","blocks":{"0000":5}}"#,
        #"{"code":null,"state":"read"}"#, #"{"code":5,"state":"read"}"#, #"{"code":"12345","state":"read"}"#,
        #"{"code":"","state":"read"}"#, #"{"code":"0x90f","state":"read"}"#, #"{"state":"read"}"#, "[]", "null", "7",
        #"{"code":"090F","state":"read","blocks":{"0000":"0011223344556677889９aabbccddeeff"}}"#,
        #"{"code":"090F","state":"read","blocks":{"":"00112233445566778899aabbccddeeff"}}"#,
    ]

    @Test(arguments: odd) func bothSayTheSameOfOddTexts(_ service: String) {
        #expect(Self.fromText(Self.dump(service)) == Self.fromTree(Self.dump(service)))
    }

    @Test func errorsNameTheKeyAlsoOnOneLine() {
        #expect(
            Self.fromText(Self.dump(Self.odd[10]))
                == .failure(
                    .malformed(
                        key: "felica.systems[0].services[0].blocks.0000", expected: .init(.hexDigits, "32"))))
    }

    @Test func aPartOfATextIsRead() throws {
        let lines = Self.dump(Self.odd[1]) + [0x0A] + Self.dump(Self.odd[7])
        let end = try #require(lines.firstIndex(of: 0x0A))
        #expect(try CardDump(parsing: lines[(end + 1)...]).systems[0].services[0].state == .refused(status: 0x01A6))
        #expect(try CardDump(parsing: lines[..<end]).systems[0].services[0].blocks.count == 2)
        #expect(throws: DocumentError.self) { try CardDump(parsing: lines[...]) }
    }
}
