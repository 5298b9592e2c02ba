// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import PCSCReader
import TestSupport
import Testing

/// Cards behind readers that pass frames on in a transparent session only.
extension PCSCServiceTests {
    /// A reader that knows no way but the transparent session; one stays open for all packets.
    @Test func feliCaThroughATransparentSession() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader()
        let card = try bench.insert(Self.felica, uid: TransparentReader.idm, answer: device.answer)
        // As long as no system has answered, nobody knows whether packets pass.
        while try reader.activate(.felica(.commonArea, requestCode: 1)) == nil, card.commands.isEmpty {
            #expect(try reader.waitForEvent(within: .seconds(20)))
        }
        // It stays open for the next Polling.
        #expect((device.sessions, device.ends) == (1, 0))
        let found = try bench.wait(for: .felica(.transit, requestCode: 1), on: reader)
        guard case .felica(let target) = found else {
            Issue.record("no FeliCa card: \(String(describing: found))")
            return
        }
        #expect(target.idm.bytes == TransparentReader.idm && target.pmm.bytes == TransparentReader.pmm)
        let sessions = device.sessions
        let command = [0x0A, 0x0C] + TransparentReader.idm
        #expect(try reader.transceive(command, timeout: .zero).suffix(3) == [0x01, 0x00, 0x03])
        #expect(throws: TransportError.noAnswer) { try reader.transceive([0x02, 0x00], timeout: .zero) }
        #expect(try reader.activate(.felica(.any, requestCode: 1)) != nil)
        #expect(device.sessions == sessions)
        reader.close()
        #expect(device.sessions == device.ends)
        _ = card
    }

    /// A card that is still moving does not make the reader one without FeliCa, be it a card or a phone.
    @Test(arguments: [Self.felica, Self.desfire]) func damagedFirstPolling(_ atr: String) throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader()
        device.damageNextAnswer()
        let card = try bench.insert(atr, uid: [0x08, 0x12, 0x34, 0x56], answer: device.answer)
        let request = ActivationRequest.felica(.transit, requestCode: 1)
        let error = #expect(throws: TransportError.self) { try bench.wait(for: request, on: reader) }
        #expect(error == .corrupted(status: 0x10))
        #expect(try reader.activate(request)?.technology == .felica)
        #expect((device.sessions, device.ends) == (1, 0))
        reader.close()
        _ = card
    }

    /// The reader still takes raw commands once the tag is back.
    @Test(arguments: [true, false]) func tagThatLeavesBeforeASession(wantsLe: Bool) throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader(wantsLe: wantsLe)
        let card = try bench.insert(Self.ultralight, uid: Self.uid, answer: device.answer)
        #expect(try bench.wait(for: .typeA(), on: reader) != nil)
        device.takeTag(true)
        #expect(throws: TransportError.noAnswer) { try reader.transceive([0x60], timeout: .zero) }
        #expect(throws: TransportError.noAnswer) { try reader.transceive([0x60], timeout: .zero) }
        device.takeTag(false)
        #expect(try reader.transceive([0x60], timeout: .zero) == TransparentReader.version)
        reader.close()
        #expect(device.sessions == device.ends)
        _ = card
    }

    /// The reader ends the session by itself: the next search begins another one.
    @Test func lostSession() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader()
        let card = try bench.insert(Self.felica, uid: TransparentReader.idm, answer: device.answer)
        let command = [0x0A, 0x0C] + TransparentReader.idm
        for _ in 0..<2 {
            #expect(try bench.wait(for: .felica(.transit, requestCode: 1), on: reader) != nil)
            #expect(try reader.transceive(command, timeout: .zero).suffix(3) == [0x01, 0x00, 0x03])
            device.endSession()
            #expect(throws: TransportError.cardReleased) { try reader.transceive(command, timeout: .zero) }
            #expect(try reader.activate(.felica(.transit, requestCode: 1)) != nil)
            device.endSession()
        }
        reader.close()
        #expect(device.sessions == device.ends)
        _ = card
    }

    /// In a session a reader looks for no cards, so pcscd may believe that the card is gone.
    @Test func cardReportedAsGoneDuringASession() throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader()
        let first = try bench.insert(Self.felica, uid: TransparentReader.idm, answer: device.answer)
        #expect(try bench.wait(for: .felica(.transit, requestCode: 1), on: reader) != nil)
        first.takeOut()
        try bench.service.waitForRemoval()
        // vpcd needs somebody to talk to: the same reader, whose session goes on.
        let second = try bench.insert(Self.felica, uid: TransparentReader.idm, answer: device.answer)
        try bench.service.waitForInsertion()
        let command = [0x0A, 0x0C] + TransparentReader.idm
        #expect(try reader.transceive(command, timeout: .zero).suffix(3) == [0x01, 0x00, 0x03])
        #expect(try reader.activate(.felica(.transit, requestCode: 1)) != nil)
        #expect(device.sessions == 1)
        reader.close()
        #expect(device.ends == 1)
        _ = (first, second)
    }

    /// A Suica in an iPhone: the reader finds a card of type A, and only a Polling in a session the other side.
    @Test(arguments: ["3B8180018080", Self.ultralight]) func feliCaSideOfAPhone(_ atr: String) throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader()
        let uid: [UInt8] = [0x08, 0x12, 0x34, 0x56]
        let card = try bench.insert(atr, uid: uid, answer: device.answer)
        #expect(try bench.wait(for: .typeA(), on: reader)?.technology == .typeA)
        #expect(device.sessions == 0)
        for _ in 0..<2 {
            #expect(try reader.activate(.felica(.commonArea, requestCode: 1)) == nil)
            guard case .felica(let target)? = try reader.activate(.felica(.transit, requestCode: 1)) else {
                Issue.record("no FeliCa side")
                return
            }
            #expect(target.idm.bytes == TransparentReader.idm)
            let command = [0x0A, 0x0C] + TransparentReader.idm
            #expect(try reader.transceive(command, timeout: .zero).suffix(3) == [0x01, 0x00, 0x03])
            guard case .typeA(let other)? = try bench.wait(for: .typeA(), on: reader) else { return }
            #expect(other.uid == uid)
            #expect(device.sessions == device.ends)
        }
        #expect(device.sessions == 2)
        reader.close()
        _ = card
    }

    /// Once a command needs the transparent session, all go through it, and it ends before the tag is selected again.
    @Test(arguments: [true, false]) func type2TagInATransparentSession(wantsLe: Bool) throws {
        let bench = try PCSCBench()
        let reader = try bench.open()
        let device = TransparentReader(wantsLe: wantsLe)
        let card = try bench.insert(Self.ultralight, uid: Self.uid, answer: device.answer)
        let target = TypeATarget(uid: Self.uid, isISODEP: false)
        #expect(try bench.wait(for: .typeA(), on: reader) == .typeA(target))
        #expect(try reader.transceive([0x30, 0x04], timeout: .zero) == Array(0..<16))
        #expect(device.sessions == 0)
        #expect(try reader.transceive([0x60], timeout: .zero) == TransparentReader.version)
        #expect(try reader.transceive([0x30, 0x04], timeout: .zero) == Array(0..<16))
        #expect(try reader.transceive([0xA2, 0x05, 1, 2, 3, 4], timeout: .zero) == [0x0A])
        #expect(try reader.transceive([0x30, 0x60], timeout: .zero) == [0x00])
        #expect(throws: TransportError.noAnswer) { try reader.transceive([0x3C, 0x00], timeout: .zero) }
        #expect((device.sessions, device.ends) == (1, 0))
        #expect(try reader.activate(.typeA()) == .typeA(target))
        #expect(device.ends == 1)
        #expect(try reader.transceive([0x60], timeout: .zero) == TransparentReader.version)
        reader.close()
        #expect((device.sessions, device.ends) == (2, 2))
        _ = card
    }
}
