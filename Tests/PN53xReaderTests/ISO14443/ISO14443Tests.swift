// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816
import ReaderCore
import TestSupport
import Testing
import VirtualReader

/// Cards of type A and B through the real libnfc and a simulated PN532.
@Suite(.waits)
struct ISO14443Tests {
    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]
    static let pupi: [UInt8] = [0xE8, 0x25, 0x3E, 0xEC]
    static let aid: [UInt8] = [0xA0, 0x00, 0x00, 0x02, 0x31, 0x01]
    static let content = (0..<880).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    static func tree() throws -> VirtualFileTree {
        let file = VirtualFile(FileIdentifier(rawValue: 1), shortID: 1, .bytes(content), update: .always)
        return VirtualFileTree(applications: [VirtualDirectory(name: AID(aid), files: [file])])
    }

    static func cardA(_ isoDEP: ISODEPOptions = ISODEPOptions()) throws -> VirtualFileCard {
        let identity = try #require(TypeAIdentity(uid: uid, atqa: 0x0344, sak: 0x20))
        return VirtualFileCard(.typeA(identity), files: try tree(), isoDEP: isoDEP)
    }

    static func cardB() throws -> VirtualFileCard {
        let identity = try #require(TypeBIdentity(pupi: pupi, applicationData: [0x00, 0x4B, 0x51, 0xFF]))
        return VirtualFileCard(.typeB(identity), files: try tree())
    }

    static func tag() throws -> VirtualType2Tag {
        VirtualType2Tag(try #require(Type2Memory(.ntag213, uid: uid)))
    }

    static let time = Duration.seconds(5)
    static let select: [UInt8] = [0x00, 0xA4, 0x04, 0x0C, 0x06] + aid

    @Test(arguments: Way.allCases) func typeACardWithISODEP(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.cardA())
        let target = TypeATarget(
            uid: Self.uid, atqa: 0x0344, sak: 0x20, ats: ISODEPInterface.plainATS, isISODEP: true)
        #expect(try bench.reader.activate(.typeA()) == .typeA(target))
        #expect(try bench.exchange(Self.select, within: Self.time) == [0x90, 0x00])
        let answer = try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0x00], within: Self.time)
        #expect(answer == Array(Self.content.prefix(256)) + [0x90, 0x00])
    }

    @Test(arguments: Way.allCases) func aCardOfTypeB(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.cardB())
        let target = TypeBTarget(
            pupi: Self.pupi, applicationData: [0x00, 0x4B, 0x51, 0xFF],
            protocolInfo: TypeBIdentity.plainProtocolInfo)
        #expect(try bench.reader.activate(.typeB()) == .typeB(target))
        #expect(try bench.exchange(Self.select, within: Self.time) == [0x90, 0x00])
        #expect(try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0xF0], within: Self.time).count == 242)
    }

    /// A whole file through the layer above, by both types.
    @Test(arguments: [false, true], Way.allCases) func aFile(_ typeB: Bool, _ way: Way) throws {
        let bench = try Bench(way, card: typeB ? try Self.cardB() : try Self.cardA())
        let request: ActivationRequest = typeB ? .typeB() : .typeA()
        let picc = try #require(try bench.reader.activate(request))
        let session = ISO7816Session(reader: bench.reader, picc: picc, request: request)
        try session.select(.application(try #require(AID(Self.aid))))
        try session.select(.childEF(FileIdentifier(rawValue: 1)))
        let file = session.readFile()
        #expect(file.end == .file)
        #expect(file.data == Self.content)
    }

    @Test(arguments: Way.allCases) func oneHostCommandAnExchange(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.cardA(), speed: ":115200")
        _ = try bench.reader.activate(.typeA())
        _ = try bench.exchange(Self.select, within: Self.time)
        let before = bench.hostCommands
        _ = try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0x10], within: Self.time)
        _ = try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0xF0], within: Self.time)
        #expect(bench.hostCommands == before + 2)
    }

    /// An APDU may take seconds. A card that is gone must not cost them once more when it is asked for.
    @Test(arguments: Way.allCases) func theQuestionForACardHasAShortTimeout(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.cardA())
        _ = try bench.reader.activate(.typeA())
        _ = try bench.exchange(Self.select, within: Self.time)
        let before = bench.server.statistics.commandsByCode[0x32, default: 0]
        for _ in 0..<3 { #expect(try bench.reader.isCardPresent() == true) }
        #expect(bench.server.statistics.commandsByCode[0x32] == before + 1)
        _ = try bench.exchange(Self.select, within: Self.time)
        #expect(bench.server.statistics.commandsByCode[0x32] == before + 2)
    }

    /// RATS and ATTRIB go out with the chip's time-out. A card that leaves just before must not keep the chip busy for
    /// seconds, or the reader would count as lost.
    @Test(arguments: Way.with([true, false])) func aSearchHasAShortTimeout(_ isTypeA: Bool, _ way: Way) throws {
        let bench = try Bench(way, card: isTypeA ? try Self.cardA() : try Self.cardB())
        func settings(_ work: () throws -> Void) rethrows -> Int {
            let before = bench.server.statistics.commandsByCode[0x32, default: 0]
            try work()
            return bench.server.statistics.commandsByCode[0x32, default: 0] - before
        }
        let search = { try #require(try bench.reader.activate(isTypeA ? .typeA() : .typeB()) != nil) }
        try search()
        _ = try bench.exchange(Self.select)
        let short = try settings(search)
        _ = try bench.exchange(Self.select, within: Self.time)
        #expect(try settings(search) == short + 1)
        #expect(try settings(search) == short)
    }

    /// The longest short command does not fit into one chip command and goes out in two. Without libnfc, longer ones go as well.
    @Test(arguments: Way.allCases) func longestShortCommand(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.cardA())
        _ = try bench.reader.activate(.typeA())
        _ = try bench.exchange(Self.select, within: Self.time)
        _ = try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0x01], within: Self.time)
        let data = [UInt8](repeating: 0xA5, count: 255)
        #expect(try bench.exchange([0x00, 0xD6, 0x00, 0x00, 0xFF] + data, within: Self.time) == [0x90, 0x00])
        #expect(try bench.exchange([0x00, 0xB0, 0x00, 0x00, 0xFF], within: Self.time) == data + [0x90, 0x00])
        let command = [0x00, 0xD6, 0x00, 0x00, 0xFF] + data + [0x00]
        let limit = bench.reader.information.longestCommandAPDU
        #expect(command.count == 261 && limit == (way == .serial ? 1024 : 261))
        _ = try bench.exchange(command, within: Self.time)
        #expect(throws: TransportError.frameTooLong(length: limit + 1, limit: limit)) {
            try bench.exchange(command + [UInt8](repeating: 0, count: limit + 1 - command.count), within: Self.time)
        }
    }

    /// Whatever went wrong: nobody knows what the card has done, so nothing is sent before a new selection.
    @Test(
        arguments: [
            (InjectedFault.silence, TransportError.noAnswer), (.absent, .noAnswer),
        ], Way.allCases)
    func selectsTheCardAgainAfterAFailure(_ fault: (happens: InjectedFault, is: TransportError), _ way: Way)
        throws
    {
        let (fault, error) = fault
        let bench = try Bench(way, card: try Self.cardA())
        _ = try bench.reader.activate(.typeA())
        _ = try bench.exchange(Self.select, within: Self.time)
        bench.field.plan([InjectedFaultRule(fault, .during(1...10_000))])
        #expect(throws: error) { try bench.exchange([0x00, 0xB0, 0x81, 0x00, 0x10], within: Self.time) }
        let before = bench.hostCommands
        #expect(throws: TransportError.cardReleased) { try bench.exchange(Self.select, within: Self.time) }
        #expect(bench.hostCommands == before)
        #expect(try bench.reader.activate(.typeA()) == nil)
        #expect(throws: TransportError.cardReleased) { try bench.exchange(Self.select, within: Self.time) }
        bench.field.plan([])
        #expect(try bench.reader.activate(.typeA()) != nil)
        #expect(try bench.exchange(Self.select, within: Self.time) == [0x90, 0x00])
    }

    /// A card that is selected does not answer a request: it loses its power first.
    @Test(arguments: [ActivationRequest.typeA(), .typeB()], Way.allCases) func repeatedActivation(
        _ request: ActivationRequest, _ way: Way
    ) throws {
        let bench = try Bench(way, card: request.technology == .typeA ? try Self.cardA() : try Self.cardB())
        for _ in 0..<3 {
            #expect(try bench.reader.activate(request) != nil)
            #expect(try bench.exchange(Self.select, within: Self.time) == [0x90, 0x00])
        }
    }

    @Test(arguments: Way.allCases) func aType2Tag(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.tag())
        #expect(
            try bench.reader.activate(.typeA())
                == .typeA(TypeATarget(uid: Self.uid, atqa: 0x0044, sak: 0x00, isISODEP: false)))
        let pages = try bench.exchange([0x30, 0x00])
        #expect(pages.count == 16)
        #expect(Array(pages[0..<3]) == Array(Self.uid[0..<3]))
        #expect(try bench.exchange([0x60]) == [0x00, 0x04, 0x04, 0x02, 0x01, 0x00, 0x0F, 0x03])
        // An ACK and a NAK of four bits; after the NAK the tag is not selected any more.
        #expect(try bench.exchange([0xA2, 0x04, 1, 2, 3, 4]) == [0x0A])
        #expect(try bench.exchange([0xA2, 0x00, 1, 2, 3, 4]) == [0x00])
        #expect(throws: TransportError.noAnswer) { try bench.exchange([0x30, 0x04]) }
        #expect(try bench.reader.activate(.typeA()) != nil)
        #expect(Array(try bench.exchange([0x30, 0x04]).prefix(4)) == [1, 2, 3, 4])
    }

    @Test(arguments: Way.allCases) func usesOneHostCommandForEachTagCommand(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.tag(), speed: ":115200")
        _ = try bench.reader.activate(.typeA())
        let before = bench.hostCommands
        for page in UInt8(0)..<3 { _ = try bench.exchange([0x30, page * 4]) }
        #expect(bench.hostCommands == before + 3)
    }

    @Test(arguments: Way.allCases) func rejectsDamagedTagAnswers(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.tag())
        _ = try bench.reader.activate(.typeA())
        bench.field.plan([InjectedFaultRule(.damaged(status: 0x02), .during(1...10_000))])
        #expect(throws: TransportError.corrupted(status: 0x02)) { try bench.exchange([0x30, 0x00]) }
        bench.field.plan([])
        #expect(try bench.exchange([0x30, 0x00]).count == 16)
    }

    @Test(arguments: Way.allCases) func skipsISODEPOnRequest(_ way: Way) throws {
        let bench = try Bench(way, card: try Self.cardA())
        guard case .typeA(let target)? = try bench.reader.activate(.typeA(isoDEP: false)) else {
            Issue.record("no card")
            return
        }
        #expect(!target.isISODEP)
        #expect(target.ats == nil)
        #expect(try bench.reader.activate(.typeA())?.isISODEP == true)
    }

    @Test(arguments: Way.allCases) func feliCaIsAsFastAsBefore(_ way: Way) throws {
        let bench = try Bench(way)
        #expect(try bench.reader.activate(.typeA()) == nil)
        #expect(try bench.reader.activate(.typeB()) == nil)
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
        let before = bench.hostCommands
        #expect(try bench.activate()?.idm.bytes == TestCard.idm)
        #expect(try bench.exchange(TestCard.requestSystemCode) == TestCard.systemCodes)
        #expect(bench.hostCommands == before + 2)
    }

    @Test(arguments: Way.allCases) func findsAPhoneAsEveryTechnology(_ way: Way) throws {
        let bench = try Bench(way)
        bench.field.place(try Self.cardB())
        bench.field.place(try Self.cardA())
        #expect(try bench.activate() != nil)
        #expect(try bench.reader.activate(.typeA())?.technology == .typeA)
        #expect(try bench.reader.activate(.typeB())?.technology == .typeB)
        #expect(try bench.exchange(Self.select, within: Self.time) == [0x90, 0x00])
    }
}
