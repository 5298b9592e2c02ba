// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import TestSupport
import Testing

@testable import VirtualCards
@testable import VirtualChips
@testable import VirtualReader

/// The phone as a reader meets it.
struct VirtualPhoneTests {
    private let phone: VirtualPhone
    private let field: VirtualField

    init() throws {
        field = try VirtualField(cardFile: TestFiles.read("Fixtures/felica/express-phone.json"))
        phone = try #require(field.cards.first as? VirtualPhone)
    }

    /// Polls, with enough time in between for the phone to have started.
    private func poll(_ code: UInt16, at bitRate: FeliCaBitRate = .kbps212) -> [UInt8]? {
        let frame: [UInt8] = [0x06, 0x00, UInt8(code >> 8), UInt8(code & 0xFF), 0x01, 0x00]
        defer { field.pass(.milliseconds(30)) }
        guard case .answer(let answer) = field.exchange(frame, at: bitRate) else { return nil }
        return answer.frame
    }

    private func request(_ technology: RadioTechnology) -> FieldResult {
        defer { field.pass(.milliseconds(30)) }
        return technology == .typeA
            ? field.exchange(RadioFrame(.typeA, [0x26], lastByteBits: 7, hasCRC: false))
            : field.exchange(RadioFrame(.typeB, [0x05, 0x00, 0x00]))
    }

    @Test func phoneAnswersFromTheFourthPolling() {
        #expect((1...6).map { _ in poll(0x0003) != nil } == [false, false, false, true, true, true])
        #expect(poll(0x0003, at: .kbps424) != nil)
        #expect(phone.walletOpenings == 0)
    }

    @Test func phoneIsSilentForTheFirst50Milliseconds() {
        for _ in 0..<8 { #expect(field.exchange([0x06, 0x00, 0x00, 0x03, 0x00, 0x00], at: .kbps424) == .silence) }
        field.pass(.milliseconds(50))
        #expect(poll(0x0003) != nil)
    }

    @Test func moreTechnologiesMeanFewerRequests() {
        let loops = (1...3).map { _ in
            _ = request(.typeB)
            return poll(0x0003) != nil
        }
        #expect(loops == [false, false, true])
    }

    @Test func cardWithout0003IsTypeA() {
        #expect((1...5).map { _ in request(.typeA) != .silence }.contains(true))
        #expect(phone.walletOpenings == 0)
    }

    @Test(arguments: [0xFFFF, 0xFE00, 0x0000] as [UInt16]) func otherSystemsOpenTheWallet(_ code: UInt16) {
        for _ in 0..<4 { _ = poll(0x0003) }
        #expect(poll(0x0003) != nil)
        #expect(poll(code) == nil)
        #expect(phone.walletOpenings == 1)
        for _ in 0..<8 { #expect(poll(0x0003) == nil) }
        #expect(phone.walletOpenings == 1)
    }

    /// A short gap belongs to the tap, a long one begins another, with another IDm.
    @Test func tapSurvivesAShortGap() throws {
        for _ in 0..<3 { _ = poll(0x0003) }
        let first = try #require(poll(0x0003))
        field.switchOff()
        field.pass(.milliseconds(600))
        #expect(poll(0x0003) == first)
        field.switchOff()
        field.pass(.milliseconds(750))
        #expect((1...3).allSatisfy { _ in poll(0x0003) == nil })
        let second = try #require(poll(0x0003))
        #expect(second[2..<10] != first[2..<10] && second[10...] == first[10...])
        #expect(phone.taps == 2)
    }
}
