// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import CardReading
import Dispatch
import ReaderCore
import PCSCReader
import TestSupport
import Testing

/// The driver on a real pcscd, with virtual cards in the readers of vsmartcard's vpcd.
@Suite(.waits, .serialized, .enabled(if: PCSCService.obstacle == nil, "\(PCSCService.obstacle ?? "")"))
struct PCSCServiceTests {
    static let license = "3B888001004B51FF0081D100BC"
    static let desfire = "3B8180018080"
    static let felica = "3B8F8001804F0CA00000030611003B0000000042"
    static let ultralight = "3B8F8001804F0CA0000003060300030000000068"
    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]
    static let ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]

    @Test func readersAreListed() throws {
        let bench = try PCSCBench()
        let names = bench.driver.list()
        #expect(names.map(\.id) == bench.service.readers.map { "pcsc:\($0)" })
        #expect(names.allSatisfy { $0.state == .ready })
        #expect(bench.driver.obstacle() == nil)
        let reader = try #require(try bench.driver.open("pcsc:Kazasu Test 00 01", cancellation: bench.cancellation))
        #expect(reader.information.name == "Kazasu Test 00 01")
        #expect(try reader.activate(.typeA()) == nil)
        reader.close()
        #expect(throws: TransportError.readerUnavailable(reason: .absent, detail: .init(.closed))) {
            try reader.activate(.typeA())
        }
    }

    @Test func aCardOfTypeB() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        #expect(throws: TransportError.cardReleased) { try reader.transceive([0, 0xA4, 0, 0], timeout: .zero) }
        let card = try bench.insert(Self.license, uid: [1, 2, 3, 4]) { [0x01, 0x02, $0[1], 0x90, 0x00] }
        let target = TypeBTarget(
            pupi: [1, 2, 3, 4], applicationData: [0x00, 0x4B, 0x51, 0xFF], protocolInfo: [0x00, 0x81, 0xD1])
        #expect(try bench.wait(for: .typeB(), on: reader) == .typeB(target))
        let apdu: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0x00]
        #expect(try reader.transceive(apdu, timeout: .seconds(5)) == [0x01, 0x02, 0xB0, 0x90, 0x00])
        #expect(card.commands.last == apdu)
        #expect(try reader.activate(.typeA()) == nil)
        #expect(try reader.activate(.felica(.any)) == nil)
        #expect(try reader.activate(.typeB(applicationFamily: 0x10)) == nil)
        #expect(throws: TransportError.cardReleased) { try reader.transceive(apdu, timeout: .seconds(5)) }
    }

    /// What was verified or selected before is gone when a card is activated again.
    @Test func resetsAUsedCardBeforeReactivation() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let card = try bench.insert(Self.desfire, uid: Self.uid, ats: Self.ats) { _ in [0x90, 0x00] }
        let target = TypeATarget(uid: Self.uid, ats: Self.ats, isISODEP: true)
        #expect(try bench.wait(for: .typeA(), on: reader) == .typeA(target))
        let before = card.resets
        #expect(try reader.activate(.typeA()) == .typeA(target))
        #expect(card.resets == before)
        _ = try reader.transceive([0x00, 0xA4, 0x00, 0x00], timeout: .seconds(5))
        #expect(try reader.activate(.typeA()) == .typeA(target))
        #expect(card.resets == before + 1)
    }

    @Test func longAnswersAndLongCommands() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let content = (0..<2_000).map { UInt8(truncatingIfNeeded: $0) }
        let card = try bench.insert(Self.desfire, uid: Self.uid) { _ in content + [0x90, 0x00] }
        _ = try bench.wait(for: .typeA(), on: reader)
        #expect(try reader.transceive([0x00, 0xB0, 0, 0, 0, 0x07, 0xD0], timeout: .seconds(5)).count == 2_002)
        let longest = reader.information.longestCommandAPDU
        let command = [0x00, 0xD6, 0, 0, 0xFF] + [UInt8](repeating: 0x55, count: 256)
        #expect(command.count == 261)
        _ = try reader.transceive(command, timeout: .seconds(5))
        #expect(card.commands.last == command)
        #expect(throws: TransportError.frameTooLong(length: longest + 1, limit: longest)) {
            try reader.transceive([UInt8](repeating: 0, count: longest + 1), timeout: .seconds(5))
        }
        #expect(throws: TransportError.unsupported(detail: .init(.emptyFrame))) {
            try reader.transceive([], timeout: .seconds(5))
        }
    }

    @Test func cardRemovedDuringACommand() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let card = try bench.insert(Self.desfire, uid: Self.uid) { $0[1] == 0xB0 ? nil : [0x90, 0x00] }
        _ = try bench.wait(for: .typeA(), on: reader)
        #expect(try reader.transceive([0x00, 0xA4, 0, 0], timeout: .seconds(5)) == [0x90, 0x00])
        let error = #expect(throws: TransportError.self) {
            try reader.transceive([0x00, 0xB0, 0, 0, 0], timeout: .seconds(5))
        }
        #expect([.noAnswer, .cardReleased, .corrupted(status: 0)].contains(error))
        // Nothing more is sent before a card was activated again.
        #expect(throws: TransportError.cardReleased) {
            try reader.transceive([0x00, 0xA4, 0, 0], timeout: .seconds(5))
        }
        while try reader.activate(.typeA()) != nil { #expect(try reader.waitForEvent(within: .seconds(20))) }
        _ = card
    }

    @Test func waitingEndsWhenACardComesOrLeaves() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        #expect(try reader.activate(.typeA()) == nil)
        let card = try bench.insert(Self.desfire, uid: Self.uid)
        #expect(try bench.wait(for: .typeA(), on: reader) != nil)
        card.takeOut()
        while try reader.activate(.typeA()) != nil { #expect(try reader.waitForEvent(within: .seconds(20))) }
    }

    /// Otherwise its first request could be one for any system, at which a phone opens its wallet.
    @Test func aCardThatComesBetweenTwoRequestsIsFoundAfterTheNextWait() throws {
        let bench = try PCSCBench()
        let (reader, other) = (try bench.open(), try bench.open())
        #expect(try reader.waitForEvent(within: .zero))
        #expect(try reader.activate(.typeA()) == nil)
        let card = try bench.insert(Self.desfire, uid: Self.uid)
        // The service knows about it.
        #expect(try bench.wait(for: .typeA(), on: other) != nil)
        other.close()
        #expect(try reader.activate(.typeA()) == nil)
        #expect(try reader.waitForEvent(within: .seconds(20)))
        #expect(try reader.activate(.typeA()) != nil)
        _ = card
    }

    /// A search that may not wait finds a card that came after the last search.
    @Test func aSearchWithoutTimeFindsACardThatCameBeforeIt() throws {
        let bench = try PCSCBench()
        let (reader, other) = (try bench.open(), try bench.open())
        let finder = CardFinder(reader: reader)
        #expect(try finder.findFirst([.typeA()], for: CardWait(.zero)) == nil)
        let card = try bench.insert(Self.desfire, uid: Self.uid)
        #expect(try bench.wait(for: .typeA(), on: other) != nil)
        other.close()
        #expect(try finder.findFirst([.typeA()], for: CardWait(.zero)) != nil)
        _ = card
    }

    @Test func cancellingEndsAWait() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        #expect(try reader.activate(.typeA()) == nil)
        let token = bench.cancellation
        DispatchQueue(label: "cancel").async { token.cancel() }
        #expect(throws: TransportError.cancelled) {
            while true { _ = try reader.waitForEvent(within: .seconds(60)) }
        }
        #expect(throws: TransportError.cancelled) { try reader.activate(.typeA()) }
    }

    @Test func reportsACardInUseAsBusy() throws {
        let bench = try PCSCBench()
        let first = try bench.open()
        let second = try bench.open()
        let card = try bench.insert(Self.desfire, uid: Self.uid)
        #expect(try bench.wait(for: .typeA(), on: first) != nil)
        let busy = TransportError.readerUnavailable(
            reason: .busy, detail: .init(.cardInUse))
        #expect(throws: busy) { try second.activate(.typeA()) }
        first.close()
        #expect(try bench.wait(for: .typeA(), on: second) != nil)
        _ = card
    }

    /// A FeliCa card behind a reader that passes packets on as ACS readers do.
    @Test func feliCaPacketsWhereTheReaderPassesThemOn() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let idm: [UInt8] = [0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90]
        let pmm: [UInt8] = [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF]
        let card = try bench.insert(Self.felica, uid: idm) { command in
            switch Array(command.dropFirst(5)) {
            case [0x06, 0x00, 0xFF, 0xFF, 0x01, 0x00]: [0x14, 0x01] + idm + pmm + [0x00, 0x03, 0x90, 0x00]
            case [0x0A, 0x0C] + idm: [0x0D, 0x0D] + idm + [0x01, 0x00, 0x03, 0x90, 0x00]
            default: [0x63, 0x00]
            }
        }
        let found = try bench.wait(for: .felica(.any, requestCode: 1), on: reader)
        guard case .felica(let target) = found else {
            Issue.record("no FeliCa card: \(String(describing: found))")
            return
        }
        #expect(target.idm.bytes == idm)
        #expect(target.pmm.bytes == pmm)
        #expect(target.requestData == 0x0003)
        #expect(try reader.transceive([0x0A, 0x0C] + idm, timeout: .zero) == [0x0D, 0x0D] + idm + [0x01, 0x00, 0x03])
        #expect(throws: TransportError.noAnswer) { try reader.transceive([0x02, 0x00], timeout: .zero) }
        #expect(try reader.activate(.felica(.transit)) == nil)
        #expect(try reader.activate(.typeA()) == nil)
        _ = card
    }

    /// Readers without sessions are asked once.
    @Test func typeACardOnAReaderWithoutSessions() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let card = try bench.insert(Self.desfire, uid: Self.uid, ats: Self.ats)
        #expect(try bench.wait(for: .typeA(), on: reader) != nil)
        #expect(try reader.activate(.felica(.transit)) == nil)
        let sent = card.commands.count
        #expect(try reader.activate(.felica(.transit)) == nil)
        #expect(!card.commands.dropFirst(sent).contains { $0.starts(with: [0xFF, 0xC2]) })
        #expect(try bench.wait(for: .typeA(), on: reader) != nil)
    }

    @Test func readerThatPassesNoPackets() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let card = try bench.insert(Self.felica, uid: [1, 2, 3, 4, 5, 6, 7, 8])
        let error = #expect(throws: TransportError.self) { try bench.wait(for: .felica(.any), on: reader) }
        #expect(error == .unsupported(detail: .init(.noFeliCaThroughService)))
        _ = card
    }

    @Test func aType2Tag() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let card = try bench.insert(Self.ultralight, uid: Self.uid) { command in
            switch command {
            case [0xFF, 0xB0, 0x00, 0x04, 0x10]: Array(0..<16) + [0x90, 0x00]
            case [0xFF, 0xD6, 0x00, 0x05, 0x04, 1, 2, 3, 4]: [0x90, 0x00]
            default: [0x63, 0x00]
            }
        }
        #expect(try bench.wait(for: .typeA(), on: reader) == .typeA(TypeATarget(uid: Self.uid, isISODEP: false)))
        #expect(try reader.transceive([0x30, 0x04], timeout: .zero) == Array(0..<16))
        #expect(try reader.transceive([0xA2, 0x05, 1, 2, 3, 4], timeout: .zero) == [0x0A])
        #expect(throws: TransportError.noAnswer) { try reader.transceive([0x30, 0x50], timeout: .zero) }
        // No way in: said once by the reader, and not asked again.
        let refusal = TransportError.unsupported(
            detail: .init(.noType2ThroughService))
        #expect(throws: refusal) { try reader.transceive([0x60], timeout: .zero) }
        let count = card.commands.count
        #expect(throws: refusal) { try reader.transceive([0x39, 0x02], timeout: .zero) }
        #expect(card.commands.count == count)
        #expect(try reader.transceive([0x30, 0x04], timeout: .zero) == Array(0..<16))
        _ = card
    }

    @Test func recognizesACardWithContacts() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let card = try bench.insert("3B951381018073FF01000B")
        let error = #expect(throws: TransportError.self) { try bench.wait(for: .typeA(), on: reader) }
        #expect(error == .unsupported(detail: .init(.contactCard)))
        _ = card
    }

    @Test func stoppedService() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        bench.service.stop()
        let error = #expect(throws: TransportError.self) { try reader.activate(.typeA()) }
        #expect(error?.isReaderError == true)
        #expect(bench.driver.list().isEmpty)
        #expect(bench.driver.obstacle() != nil)
        reader.close()
    }
}
