// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import CardReading

@Suite("Which commands a card answers")
struct CommandProbeTests {
    /// A card of an IC that answers everything that its commands could be asked for.
    private static func session(
        rom: String = "01", ic: String, faults: InjectedFaults = InjectedFaults()
    ) throws -> (session: CardSession, field: VirtualField) {
        let told = """
            "productInformation": "0102", "specificationVersion": "00000500", "systemStatus": "000101",
            "containerIssue": "00010000683030373031370000000000", "containerID": "6d696e656d6f6269",
            "containerProperties": {"0000": "01"}
            """
        let text = """
            {"schema": "kazasu.card/1", "idm": "0130010203040506", "pmm": "\(rom)\(ic)8b868fbecbff",
             "systems": [{"code": "0003", "blocks": {"008B": ["00000000000000002000000a000001e3"]}}],
             "virtual": {\(told)}}
            """
        let field = VirtualField(cards: [try VirtualCardFile.load(Array(text.utf8))], faults: faults)
        let reader = InProcessReader(field)
        guard
            case .found(let found) = try CardFinder(reader: reader).find([.transit], requestCode: 1, for: .once),
            let target = found.feliCa
        else { throw Fixture.NoCard() }
        return (CardSession(reader: reader, target: target), field)
    }

    /// A ROM and IC type of each column of the published table.
    static let chips = [
        ("02", "00"), ("03", "00"), ("01", "01"), ("01", "0B"), ("01", "20"), ("01", "24"), ("01", "32"), ("01", "44"),
        ("01", "16"), ("01", "18"),
    ]

    @Test("Answers and silence are those of the chip's measurements, and nothing else is sent", arguments: chips)
    func matrix(chip: (rom: String, ic: String)) throws {
        let (session, field) = try Self.session(rom: chip.rom, ic: chip.ic)
        let pollings = field.statistics.count(of: 0x00)
        let result = CommandProbe(session: session).run()
        #expect(result.interruption == nil)
        let profile = try #require(ICProfile.of(session.target.pmm))
        #expect(result.commands.count == 18)
        for command in result.commands {
            let expected = profile.support(of: command.code)
            #expect(command.isAnswered ? expected != .silent : expected != .answered, "\(command.code)")
        }
        #expect(field.statistics.count(of: 0x00) == pollings, "no Polling")
        for code in [0x08, 0x10, 0x12, 0x14, 0x16, 0x20, 0x34, 0x36, 0x3E, 0x40, 0x42, 0x48, 0x4C] as [UInt8] {
            #expect(field.statistics.count(of: code) == 0, "\(code)")
        }
    }

    @Test("A card that leaves ends it, with what was found")
    func leaves() throws {
        let (session, _) = try Self.session(ic: "32", faults: .cardAway(from: 6))
        let result = CommandProbe(session: session).run()
        #expect(result.interruption == .cardLost)
        #expect(!result.commands.isEmpty && result.commands.count < 18 && result.commands.allSatisfy(\.isAnswered))
    }

    @Test(
        "One lost or damaged exchange changes nothing",
        arguments: [.silence, .damaged(status: 0x02)] as [InjectedFault])
    func loss(fault: InjectedFault) throws {
        let (clean, _) = try Self.session(ic: "32")
        let expected = CommandProbe(session: clean).run()
        for exchange in 3..<20 {
            let (session, _) = try Self.session(ic: "32", faults: .once(fault, at: exchange))
            #expect(CommandProbe(session: session).run() == expected, "exchange \(exchange)")
        }
    }

    @Test("Answers of another card or command are none")
    func strangeAnswers() throws {
        let (session, _) = try Self.session(ic: "32")
        let idm = session.target.idm
        let question = try #require(
            CommandProbe.questions(ResponseTime(session.target.pmm)).first { $0.code == .requestResponse })
        let address = Array(question.packet(for: idm).dropFirst(2))
        #expect(question.isAnswer([11, 0x05] + address + [0], from: idm))
        for frame in [[], [0], [2, 5], [11, 0x05] + address, [11, 0x07] + address + [0]] as [[UInt8]] {
            #expect(!question.isAnswer(frame, from: idm))
        }
        var other = address
        other[7] ^= 1
        #expect(!question.isAnswer([11, 0x05] + other + [0], from: idm))
    }
}
