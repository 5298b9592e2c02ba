// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import Testing
import VirtualReader

/// A transcript replays for a program that asks its questions in another order.
struct ReplayOrderTests {
    private static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    private static let target = PICC.felica(
        FeliCaTarget(
            idm: IDm(rawValue: 0x0102_0304_0506_0708), pmm: PMm(rawValue: 2), requestData: 0xFE00, bitRate: .kbps212))
    private static let anyCard = ActivationRequest.felica(.any, requestCode: 1)

    private static func frame(_ code: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [UInt8(payload.count + 10), code] + idm + payload
    }

    private static func exchange(
        _ code: UInt8, _ payload: [UInt8], _ answer: [UInt8]?
    ) -> TranscriptEntry.Event {
        .transceive(
            frame(code, payload), timeout: .zero, answer.map { .success(frame(code + 1, $0)) } ?? .failure(.noAnswer))
    }

    private static let areaAtOne = exchange(0x0A, [1, 0], [0x40, 0, 0x7F, 0])
    private static let end = exchange(0x0A, [4, 0], [0xFF, 0xFF])
    private static let last = exchange(0x0A, [3, 0], [0x4B, 0])
    /// The system, root, area 0040, services 0048 and 004B, and 0088, which does not exist.
    private static let versions = exchange(
        0x02, [6, 0xFF, 0xFF, 0, 0, 0x40, 0, 0x48, 0, 0x4B, 0, 0x88, 0],
        [6, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0xFF, 0xFF])
    private static let read = exchange(0x06, [1, 0x4B, 0, 1, 0x80, 0], [0, 0, 1] + [UInt8](repeating: 7, count: 16))
    private static let found = TranscriptEntry.Event.activate(anyCard, .success(target))

    private static func replay(_ events: [TranscriptEntry.Event]) -> ReplayReader {
        ReplayReader(
            Transcript(
                reader: InProcessReader().information,
                entries: events.map { TranscriptEntry(time: .zero, event: $0) }))
    }

    /// Returns what follows the IDm in the answer.
    private static func ask(_ reader: ReplayReader, _ code: UInt8, _ payload: [UInt8]) throws -> [UInt8] {
        let answer = try reader.transceive(frame(code, payload), timeout: .zero)
        let start: [UInt8] = [UInt8(answer.count), code + 1] + idm
        #expect(answer.starts(with: start))
        return Array(answer.dropFirst(10))
    }

    private static func expectOutOfScript(_ body: () throws -> Void) {
        do {
            try body()
            Issue.record("no error")
        } catch {
            guard case TransportError.outOfScript = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func questionsInAnotherOrder() throws {
        let reader = Self.replay([Self.found, Self.areaAtOne, Self.end, Self.versions, Self.last, Self.read])
        #expect(try reader.activate(Self.anyCard) == Self.target)
        #expect(try Self.ask(reader, 0x02, [2, 0x4B, 0, 0xFF, 0xFF]) == [2, 5, 0, 1, 0])
        #expect(try Self.ask(reader, 0x0A, [3, 0]) == [0x4B, 0])
        #expect(try Self.ask(reader, 0x0A, [1, 0]) == [0x40, 0, 0x7F, 0])
        guard case .transceive(let frame, _, .success(let block)) = Self.read else { return }
        var other = frame
        other[15] = 1
        Self.expectOutOfScript { _ = try reader.transceive(other, timeout: .zero) }
        #expect(try reader.transceive(frame, timeout: .zero) == block)
        Self.expectOutOfScript { _ = try reader.transceive(frame, timeout: .zero) }
    }

    /// Once the answers prove the list, they answer for every index and every node.
    @Test func answersThatFollow() throws {
        let reader = Self.replay([Self.found, Self.areaAtOne, Self.end, Self.versions, Self.last, Self.read])
        _ = try reader.activate(Self.anyCard)
        #expect(try Self.ask(reader, 0x0A, [2, 0]) == [0x48, 0])
        #expect(try Self.ask(reader, 0x0A, [9, 0]) == [0xFF, 0xFF])
        #expect(try Self.ask(reader, 0x02, [2, 0x34, 0x12, 0x48, 0]) == [2, 0xFF, 0xFF, 4, 0])
    }

    /// Without the end of the list, or a node fewer than indexes, or another order, nothing follows.
    @Test func nothingFollowsFromLess() throws {
        let fewer = Self.exchange(
            0x02, [4, 0xFF, 0xFF, 0, 0, 0x40, 0, 0x4B, 0], [4, 1, 0, 2, 0, 3, 0, 5, 0])
        let elsewhere = Self.exchange(0x0A, [2, 0], [0x4B, 0])
        for events in [
            [Self.found, Self.areaAtOne, Self.versions, Self.last, Self.read],
            [Self.found, Self.areaAtOne, Self.end, fewer, Self.last, Self.read],
            [Self.found, Self.areaAtOne, Self.end, Self.versions, elsewhere, Self.read],
        ] {
            let reader = Self.replay(events)
            _ = try reader.activate(Self.anyCard)
            Self.expectOutOfScript { _ = try Self.ask(reader, 0x0A, [9, 0]) }
            Self.expectOutOfScript { _ = try Self.ask(reader, 0x02, [1, 0x34, 0x12]) }
        }
    }

    /// A card that left while it was asked something is as silent to another question of that kind.
    @Test func silence() throws {
        let gone = TranscriptEntry.Event.activate(Self.anyCard, .success(nil))
        let reader = Self.replay([Self.found, Self.areaAtOne, Self.exchange(0x0A, [2, 0], nil), gone])
        _ = try reader.activate(Self.anyCard)
        #expect(throws: TransportError.noAnswer) { try Self.ask(reader, 0x0A, [7, 0]) }
        #expect(try reader.activate(Self.anyCard) == nil)
    }

    /// Pollings of the card that is there.
    @Test func pollings() throws {
        let other = PICC.felica(
            FeliCaTarget(idm: IDm(rawValue: 0x1102_0304_0506_0708), pmm: PMm(rawValue: 2), bitRate: .kbps212))
        let stranger = PICC.felica(
            FeliCaTarget(idm: IDm(rawValue: 0x0102_0304_0506_0709), pmm: PMm(rawValue: 2), bitRate: .kbps212))
        let events: [TranscriptEntry.Event] = [
            .activate(.felica(.transit), .success(nil)), Self.found, Self.read,
            .activate(.felica(.octopus), .success(nil)), .activate(.felica(.commonArea), .success(other)),
            .activate(.felica(.ndef), .success(stranger)),
        ]
        let reader = Self.replay(events)
        Self.expectOutOfScript { _ = try reader.activate(.felica(.commonArea)) }
        _ = try reader.activate(Self.anyCard)
        #expect(try reader.activate(.felica(.commonArea)) == other)
        #expect(try reader.activate(.felica(.octopus)) == nil)
        #expect(try reader.activate(.felica(.transit)) == nil)
        #expect(try reader.activate(Self.anyCard) == Self.target)
        // Another card came before it.
        Self.expectOutOfScript { _ = try reader.activate(.felica(.ndef)) }
        guard case .transceive(let frame, _, .success(let block)) = Self.read else { return }
        #expect(try reader.transceive(frame, timeout: .zero) == block)
    }
}
