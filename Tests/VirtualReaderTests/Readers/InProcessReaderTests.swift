// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing
import VirtualReader

/// The reader without a chip.
struct InProcessReaderTests {
    static let second = Duration.seconds(1)
    static let request: [UInt8] = [0x0A, 0x0C] + VirtualFieldTests.idm

    @Test func findsAndQueriesACard() throws {
        let reader = InProcessReader(try VirtualFieldTests.card())
        let picc = try reader.activate(.felica(.any, requestCode: 1, bitRate: .kbps424))
        let target = FeliCaTarget(
            idm: IDm(rawValue: 0x0102_0304_0506_0708), pmm: PMm(rawValue: 0x0136_8B86_8FBE_CBFF), requestData: 0x0003,
            bitRate: .kbps424)
        #expect(picc == .felica(target))
        #expect(
            try reader.transceive(Self.request, timeout: Self.second)
                == [0x0D, 0x0D] + VirtualFieldTests.idm + [1, 0x00, 0x03])
        #expect(reader.activations == 1)
        #expect(reader.transceives == 1)
        #expect(reader.field.statistics.byCommand == [0x00: 1, 0x0C: 1])
    }

    @Test func findsNothingWithoutCardSystemOrSpeed() throws {
        #expect(try InProcessReader().activate(.felica(.any)) == nil)
        let reader = InProcessReader(try VirtualFieldTests.card())
        #expect(try reader.activate(.felica(.octopus)) == nil)
        #expect(throws: TransportError.cardReleased) {
            try reader.transceive(Self.request, timeout: Self.second)
        }
        let slow = InProcessReader(
            VirtualField(), information: ReaderInformation(id: "x", name: "x", feliCaBitRates: [.kbps212]))
        #expect(throws: TransportError.unsupported(detail: .init(.polling, "424"))) {
            try slow.activate(.felica(.any, bitRate: .kbps424))
        }
    }

    @Test func damagedPollingAnswerIsHeard() throws {
        let field = VirtualField(
            cards: [try VirtualFieldTests.card()], faults: .once(.damaged(status: 2), at: 1))
        #expect(throws: TransportError.heard(.damaged(.felica))) { try InProcessReader(field).activate(.felica(.any)) }
    }

    @Test(arguments: [
        InjectedFault.silence, .absent, .flipped(offset: 0, mask: 1), .truncated(to: 9),
        .truncated(to: 0),
        .lengthened(by: [0]), .wrongResponseCode,
    ])
    func badPollingAnswerFindsNoCard(_ fault: InjectedFault) throws {
        let field = VirtualField(cards: [try VirtualFieldTests.card()], faults: .once(fault, at: 1))
        let reader = InProcessReader(field)
        #expect(try reader.activate(.felica(.any)) == nil)
        #expect(try reader.activate(.felica(.any)) != nil)
    }

    @Test(arguments: [
        (InjectedFault.silence, TransportError.noAnswer), (.absent, .noAnswer), (.late(.seconds(2)), .noAnswer),
        (.damaged(status: 2), .corrupted(status: 2)), (.damaged(status: 6), .corrupted(status: 6)),
    ])
    func faultsAreErrors(_ fault: InjectedFault, _ error: TransportError) throws {
        let field = VirtualField(cards: [try VirtualFieldTests.card()], faults: .once(fault, at: 2))
        let reader = InProcessReader(field)
        #expect(try reader.activate(.felica(.any)) != nil)
        #expect(throws: error) { try reader.transceive(Self.request, timeout: Self.second) }
        #expect(try reader.transceive(Self.request, timeout: Self.second).count == 13)
    }

    @Test func passesOnAnswersOfAnotherForm() throws {
        let field = VirtualField(
            cards: [try VirtualFieldTests.card()], faults: .once(.truncated(to: 3), at: 2))
        let reader = InProcessReader(field)
        #expect(try reader.activate(.felica(.any)) != nil)
        #expect(try reader.transceive(Self.request, timeout: Self.second) == [0x0D, 0x0D, 0x01])
    }

    @Test func framesAndAnswersThatAreTooLong() throws {
        let reader = InProcessReader(
            VirtualField(cards: [try VirtualFieldTests.card()]),
            information: ReaderInformation(id: "x", name: "x", longestFeliCaAnswer: 28))
        #expect(try reader.activate(.felica(.any)) != nil)
        #expect(throws: TransportError.frameTooLong(length: 263, limit: 262)) {
            try reader.transceive([UInt8](repeating: 0, count: 263), timeout: Self.second)
        }
        #expect(throws: TransportError.noAnswer) {
            try reader.transceive([UInt8](repeating: 0, count: 262), timeout: Self.second)
        }
        #expect(throws: TransportError.answerTooLong) {
            try reader.transceive(VirtualFieldTests.read, timeout: Self.second)
        }
        #expect(reader.field.statistics.exchanges == 3)
    }

    @Test func cancelledAndClosed() throws {
        let token = CancellationToken()
        let reader = InProcessReader(VirtualField(cards: [try VirtualFieldTests.card()]), cancellation: token)
        #expect(try reader.activate(.felica(.any)) != nil)
        token.cancel()
        #expect(throws: TransportError.cancelled) { try reader.activate(.felica(.any)) }
        #expect(throws: TransportError.cancelled) { try reader.transceive(Self.request, timeout: Self.second) }
        #expect(reader.field.statistics.exchanges == 1)
        let closed = InProcessReader(try VirtualFieldTests.card())
        closed.close()
        closed.close()
        #expect(throws: TransportError.readerFailed(detail: .init(.closed))) {
            try closed.activate(.felica(.any))
        }
    }
}
