// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing
import VirtualReader

/// Each member of `virtual` changes what it is to change.
struct OptionTests {
    struct Option: CustomTestStringConvertible, Sendable {
        let text: String
        let change: @Sendable (inout CardProfile) -> Void
        var testDescription: String { text }
        init(_ text: String, _ change: @escaping @Sendable (inout CardProfile) -> Void) {
            self.text = text
            self.change = change
        }
    }

    static let options: [Option] = [
        Option("") { _ in },
        Option("\"commands\": [\"00\", \"06\"]") { $0.commands = [.polling, .readWithoutEncryption] },
        Option("\"also\": [\"F0\", \"1a\"]") { $0.commands.formUnion([.echo, .requestCodeList]) },
        Option("\"silent\": [\"0C\"]") { $0.commands.remove(.requestSystemCode) },
        Option("\"trailingBytes\": \"silent\"") { $0.strictCommands = Set(CommandCode.allCases) },
        Option("\"trailingBytes\": \"ignored\"") { $0.strictCommands = [] },
        Option("\"trailingBytes\": [\"04\"]") { $0.strictCommands = [.requestResponse] },
        Option("\"blocksPerRead\": 3, \"blocksPerWrite\": 2") {
            $0.blocksPerRead = 3
            $0.blocksPerWrite = 2
        },
        Option("\"statusStyle\": \"always255\"") { $0.statusStyle = .always255 },
        Option("\"overLimit\": \"A1\"") { $0.overLimitStatus = 0xA1 },
        Option("\"refusal\": \"A4\"") { $0.refusalStatus = 0xA4 },
        Option("\"bitRates\": [424]") { $0.bitRates = [.kbps424] },
        Option("\"requestCodes\": []") { $0.requestCodes = [] },
        Option("\"knownAttributes\": \"standard\"") { $0.knowsStandardAttributesOnly = true },
        Option("\"echoLimit\": 0") { $0.echoLimit = 0 },
        Option("\"encryption\": \"2F\"") { $0.encryption = 0x2F },
        Option("\"answerTime\": 1000") { $0.answerTimePercent = 1000 },
        Option("\"systemStatus\": \"0001FF\"") { $0.product.systemStatus = [0x00, 0x01, 0xFF] },
        Option("\"containerProperties\": {\"0102\": \"\"}") { $0.product.containerProperties = [0x0102: []] },
        Option("\"faults\": []") { _ in },
        Option("\"statusStyle\": null") { _ in },
    ]

    /// IC 20, which keeps silent on trailing bytes by itself.
    @Test(arguments: options) func option(_ option: Option) throws {
        let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)
        var expected = CardProfile(pmm: pmm)
        option.change(&expected)
        let card = try VirtualFeliCaCard.from(
            """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "\(pmm)",
             "systems": [{"code": "0003"}], "virtual": {\(option.text)}}
            """)
        #expect(card.profile == expected)
    }

    static let faults: [(String, InjectedFault)] = [
        ("\"silence\"", .silence), ("\"absent\"", .absent), ("\"damaged\"", .damaged(status: 2)),
        ("\"damaged\", \"status\": \"06\"", .damaged(status: 6)),
        ("\"flipped\", \"offset\": 3, \"mask\": \"01\"", .flipped(offset: 3, mask: 1)),
        ("\"flipped\", \"offset\": 3", .flipped(offset: 3, mask: 0xFF)),
        ("\"truncated\", \"length\": 4", .truncated(to: 4)), ("\"lengthened\"", .lengthened(by: [0])),
        ("\"lengthened\", \"bytes\": \"0102\"", .lengthened(by: [1, 2])), ("\"otherIDm\"", .otherIDm),
        ("\"wrongResponseCode\"", .wrongResponseCode), ("\"wrongCount\"", .wrongCount),
        ("\"late\", \"milliseconds\": 5", .late(.milliseconds(5))),
    ]

    /// The fault of the file does what the same fault given in code does.
    @Test(arguments: faults) func fault(_ text: String, _ fault: InjectedFault) throws {
        let file = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368B868FBECBFF",
             "systems": [{"code": "0003", "blocks": {"100B": 2}}],
             "virtual": {"faults": [{"fault": \(text), "command": "06", "every": 2}]}}
            """
        let field = try VirtualField(cardFile: Array(file.utf8))
        let other = VirtualField(
            cards: [try VirtualFieldTests.card()], faults: [InjectedFaultRule(fault, .every(2), command: 0x06)])
        for frame in [VirtualFieldTests.polling] + Array(repeating: VirtualFieldTests.read, count: 4) {
            #expect(field.exchange(frame, at: .kbps212) == other.exchange(frame, at: .kbps212))
        }
        #expect(field.statistics == other.statistics)
    }

    @Test func randomFaultsOfAFile() throws {
        let file = """
            {"schema": "kazasu.card/1", "idm": "0102030405060708", "pmm": "01368B868FBECBFF",
             "systems": [{"code": "0003"}],
             "virtual": {"faults": [{"fault": "silence", "perThousand": 500, "seed": 3}]}}
            """
        let field = try VirtualField(cardFile: Array(file.utf8))
        for _ in 0..<100 { _ = field.exchange(VirtualFieldTests.polling, at: .kbps212) }
        #expect((20...80).contains(field.statistics.unanswered))
    }

    // MARK: cards made in code

    @Test func cardMadeInCode() throws {
        let service = ServiceCode(rawValue: 0x1009)
        var silent = VirtualNode(service: ServiceCode(rawValue: 0x2009))
        silent.refusal = .silence
        var refused = VirtualNode(service: ServiceCode(rawValue: 0x3009))
        refused.refusal = .status(0xFF70)
        let system = VirtualSystem(
            code: .transit, idm: IDm(rawValue: 0x0102_0304_0506_0708), pmm: PMm(rawValue: 0x0136_8B86_8FBE_CBFF),
            nodes: [VirtualNode(service: service), silent, refused, VirtualNode(service: service)],
            memory: [service.overlapGroup: BlockStore([.zero, .zero])])
        #expect(system.nodes.count == 4)
        let card = VirtualFeliCaCard(systems: [system])
        #expect(card.profile == CardProfile(pmm: system.pmm))
        #expect(try card.ask("06<I>010910018001")?.hasPrefix("0701020304050607080000") == true)
        #expect(try card.ask("06<I>010920018000") == nil)
        #expect(try card.ask("06<I>010930018000")?.hasSuffix("ff70") == true)
        #expect(try card.ask("08<I>010920018000" + BlockTests.zeros) == nil)
        #expect(card.lite == nil)
    }

    @Test func cardWithoutSystemsIsSilent() throws {
        let card = VirtualFeliCaCard(systems: [], profile: CardProfile())
        #expect(try card.ask("00FFFF0000") == nil)
        #expect(try card.ask("0C<I>") == nil)
        #expect(try card.ask("F00001") == "f00001")
        #expect(VirtualFeliCaCard(systems: Array(repeating: Self.system, count: 20)).systems.count == 16)
    }

    private static let system = VirtualSystem(code: .transit, idm: IDm(rawValue: 1), pmm: PMm(rawValue: 0))

    // MARK: Request Code List, page by page

    @Test func codeListsHaveSixteenOfEachAPage() throws {
        let services = (0..<40).map { ServiceCode(rawValue: 0x1009 + UInt16($0) * 64) }
        let areas = (0..<20).map { VirtualNode(area: AreaCode(rawValue: 0x8000 + UInt16($0) * 64), end: .root) }
        let system = VirtualSystem(
            code: .transit, idm: IDm(rawValue: 0x0102_0304_0506_0708), pmm: PMm(rawValue: 0x0118_8B86_8FBE_CBFF),
            nodes: services.map { VirtualNode(service: $0) } + areas)
        let card = VirtualFeliCaCard(systems: [system])
        var shape: [[Int]] = []
        for page in 1...4 {
            let body = try Vector.bytes("1A<I>00000\(page)00")
            let answer = try #require(card.answer([UInt8(body.count + 1)] + body, at: .kbps212)).frame
            let areaCount = Int(answer[13])
            shape.append([Int(answer[12]), areaCount, Int(answer[14 + areaCount * 4])])
        }
        #expect(shape == [[1, 16, 16], [1, 4, 16], [0, 0, 8], [0, 0, 0]])
        let far = try #require(try card.ask("1A<I>0000FFFF"))
        #expect(far == "1b0102030405060708 0000 00 00 00".packed)
    }
}
