// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816
import ReaderCore
import TestSupport
import Testing

@testable import NFCForumTags
@testable import VirtualCards
@testable import VirtualReader

/// A virtual DESFire in a field that fails once, before or after the card has carried out a command.
private final class TroubledDESFire: CardChannel {
    var state: FileCardState
    /// The command at which an answer is lost, counted from 1; 0 for none.
    var fault = 0
    var reachesCard = false
    /// Whether the card is away afterwards.
    var leaves = false
    private(set) var commands: [[UInt8]] = []
    private var isAway = false

    init(_ card: VirtualDESFire) { state = FileCardState(VirtualFileTree(applets: [card]), FileCardOptions()) }

    var tag: DESFireTag {
        DESFireTag(
            session: ISO7816Session(channel: self) { [self] () throws(TransportError) in
                guard !isAway else { throw .cardReleased }
                state.losePower()
                return true
            })
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        commands.append(frame)
        guard !isAway else { throw .noAnswer }
        guard commands.count == fault else { return state.answer(frame) }
        if reachesCard { _ = state.answer(frame) }
        isAway = leaves
        throw .noAnswer
    }

    func file(_ number: UInt8) throws -> VirtualDESFire.File {
        try #require(state.tree.applet(VirtualDESFire.self)?.applications.first?.files[number])
    }

    func count(_ code: UInt8) -> Int { commands.filter { $0.count > 1 && $0[1] == code }.count }
}

@Suite("Writing a DESFire: once or not at all, whatever happens")
struct DESFireWriteTests {
    static let keys = (0..<3).map { number in (0..<16).map { UInt8(16 * (number + 1) + $0) } }

    enum Kind: String, CaseIterable {
        case value, backup, cyclic, linear
    }

    static let number: [Kind: UInt8] = [.backup: 1, .value: 2, .cyclic: 3, .linear: 4]

    private static func card(
        _ generation: VirtualDESFire.Generation = .ev1, mode: UInt8 = 3, rights: [UInt8] = [0x20, 0x12]
    ) -> TroubledDESFire {
        let master = VirtualDESFire.Application(
            id: [0, 0, 0], settings: 0x0F, keys: [DESFireChipKey(.des, Array(keys[0]))], versions: [])
        var card = VirtualDESFire(generation, uid: [4, 1, 2, 3, 4, 5, 6], card: master)
        let kind: DESFireChipKey.Kind = generation == .d40 ? .des : .aes
        var application = VirtualDESFire.Application(
            id: [0xF5, 0xA1, 0xC0], settings: 0x0F, keys: keys.map { DESFireChipKey(kind, $0) }, versions: [])
        var backup = VirtualDESFire.File(kind: .backup, mode: mode, rights: rights)
        backup.bytes = [UInt8](repeating: 0xA5, count: 300)
        var value = VirtualDESFire.File(kind: .value, mode: mode, rights: rights)
        (value.value, value.upper) = (100, 1000)
        var cyclic = VirtualDESFire.File(kind: .cyclic, mode: mode, rights: rights)
        (cyclic.recordSize, cyclic.maxRecords) = (70, 3)
        cyclic.records = [1, 2].map { [UInt8](repeating: $0, count: 70) }
        var linear = cyclic
        linear.kind = .linear
        application.files = [1: backup, 2: value, 3: cyclic, 4: linear]
        card.applications = [application]
        return TroubledDESFire(card)
    }

    private static func id(_ number: UInt8) throws -> DESFireFileID { try #require(DESFireFileID("F5A1C0:\(number)")) }

    private static func key(_ number: UInt8) throws -> DESFireKey {
        try #require(DESFireKey(keys[Int(number)], number: number))
    }

    /// 200 bytes, or as many as a record has.
    private static func bytes(_ kind: Kind) -> [UInt8] { (0..<(kind == .backup ? 200 : 60)).map { UInt8($0 + 1) } }

    /// Writes with key 2.
    private static func write(_ kind: Kind, _ card: TroubledDESFire) throws(DESFireError) {
        guard let place = try? id(number[kind] ?? 0), let key = try? key(2) else { return }
        if kind == .value {
            #expect(try card.tag.change(place, by: 25, key: key) == 125)
        } else {
            #expect(try card.tag.write(place, bytes(kind), at: 10, key: key))
        }
    }

    private static func isWritten(_ kind: Kind, _ card: TroubledDESFire) throws -> Bool {
        let file = try card.file(number[kind] ?? 0)
        let record = [UInt8](repeating: 0, count: 10) + bytes(.cyclic)
        switch kind {
        case .value: return file.value == 125
        case .backup: return Array(file.bytes[10..<210]) == bytes(kind)
        case .cyclic: return file.records == [[UInt8](repeating: 2, count: 70), record]
        case .linear: return file.records.count == 3 && file.records.last == record
        }
    }

    private static func isUntouched(_ kind: Kind, _ card: TroubledDESFire) throws -> Bool {
        let (now, before) = (try card.file(number[kind] ?? 0), try Self.card().file(number[kind] ?? 0))
        return now.bytes == before.bytes && now.value == before.value && now.records == before.records
    }

    @Test("A second key of an application goes on with the session of EV2, and a wrong one ends it")
    func nonFirst() throws {
        let card = Self.card(.ev2)
        let tag = card.tag
        _ = try tag.identify()
        try tag.link.select(try Self.id(1).application)
        try tag.authenticate(try Self.key(2), .aes, .ev2)
        #expect(try tag.link.ask(.keyVersion, [0]) == [0])
        try tag.authenticate(try Self.key(1), .aes, .ev2)
        #expect(card.count(0x71) == 1 && card.count(0x77) == 1)
        // Counter and identifier of the first session, keys of the second.
        #expect(try tag.link.ask(.keyVersion, [1]) == [0])
        let wrong = try #require(DESFireKey([UInt8](repeating: 0x5A, count: 16), number: 0))
        #expect(throws: DESFireError.wrongKey) { try tag.authenticate(wrong, .aes, .ev2) }
        #expect(card.count(0x77) == 2)
        #expect(card.state.tree.applet(VirtualDESFire.self)?.failures == [[0xF5, 0xA1, 0xC0, 0]: 1])
        try tag.authenticate(try Self.key(0), .aes, .ev2)
        #expect(card.count(0x71) == 2 && card.count(0x77) == 2)
    }

    @Test("A card that refuses NonFirst gets First")
    func nonFirstIsRefused() throws {
        let card = Self.card(.ev2)
        let tag = card.tag
        _ = try tag.identify()
        try tag.link.select(try Self.id(1).application)
        try tag.authenticate(try Self.key(2), .aes, .ev2)
        // SelectApplication, of which the driver knows nothing, ends the card's session.
        _ = card.state.answer([0x90, 0x5A, 0x00, 0x00, 0x03, 0xC0, 0xA1, 0xF5, 0x00])
        try tag.authenticate(try Self.key(1), .aes, .ev2)
        #expect(card.count(0x77) == 1 && card.count(0x71) == 2)
        #expect(try tag.link.ask(.keyVersion, [1]) == [0])
    }

    @Test(
        "Every kind of file in every session and mode, in frames", arguments: VirtualDESFire.Generation.allCases,
        [0, 1, 3] as [UInt8])
    func sessions(_ generation: VirtualDESFire.Generation, _ mode: UInt8) throws {
        for kind in Kind.allCases {
            let card = Self.card(generation, mode: mode)
            try Self.write(kind, card)
            #expect(try Self.isWritten(kind, card))
            let contents = try card.tag.read(try Self.id(Self.number[kind] ?? 0), key: try Self.key(1)).contents
            let file = try card.file(Self.number[kind] ?? 0)
            switch contents {
            case .data(let bytes): #expect(bytes == file.bytes)
            case .value(let value): #expect(value == file.value)
            case .records(let records): #expect(records == file.records)
            @unknown default: Issue.record("unknown contents")
            }
        }
    }

    @Test("An answer lost at any command: done or not, said truly, and never sent twice", arguments: Kind.allCases)
    func lostAnswers(_ kind: Kind) throws {
        for generation in [VirtualDESFire.Generation.d40, .ev1, .ev2] {
            let whole = Self.card(generation)
            try Self.write(kind, whole)
            for fault in 1...whole.commands.count {
                for (reachesCard, leaves) in [(false, false), (true, false), (false, true), (true, true)] {
                    let card = Self.card(generation)
                    (card.fault, card.reachesCard, card.leaves) = (fault, reachesCard, leaves)
                    var failure: DESFireError?
                    do throws(DESFireError) { try Self.write(kind, card) } catch { failure = error }
                    let (isWritten, isUntouched) = (try Self.isWritten(kind, card), try Self.isUntouched(kind, card))
                    #expect(isWritten != isUntouched)
                    #expect(card.count(0xC7) <= 1)
                    switch failure {
                    // The answer to the read was lost, and the file was read once more.
                    case nil: #expect(isWritten)
                    case .answerLost(.done): #expect(isWritten)
                    case .answerLost(.notDone): #expect(isUntouched)
                    case .answerLost(.unknown): #expect(leaves)
                    case .tag(.tagLost): #expect(isUntouched, "command \(fault)")
                    default: Issue.record("command \(fault) of \(whole.commands.count): \(failure as Any)")
                    }
                }
            }
        }
    }

    @Test("Without the right, outside of the file and beyond the limits nothing is sent that writes")
    func refusals() throws {
        let card = Self.card(.ev2)
        let (backup, value) = (try Self.id(1), try Self.id(2))
        #expect(throws: DESFireError.notAllowed(backup, .write)) {
            _ = try card.tag.write(backup, [1], at: 0, key: try Self.key(1))
        }
        #expect(throws: DESFireError.notAllowed(backup, .write)) { _ = try card.tag.write(backup, [1], at: 0) }
        #expect(throws: DESFireError.notAllowed(value, .credit)) {
            _ = try card.tag.change(value, by: 1, key: try Self.key(1))
        }
        #expect(throws: DESFireError.outOfRange(DESFireRange(wanted: 301, lower: 0, upper: 300))) {
            _ = try card.tag.write(backup, [1, 2], at: 299, key: try Self.key(2))
        }
        #expect(throws: DESFireError.outOfRange(DESFireRange(wanted: 1001, lower: 0, upper: 1000))) {
            _ = try card.tag.change(value, by: 901, key: try Self.key(2))
        }
        #expect(throws: DESFireError.otherType(backup, .backup)) {
            _ = try card.tag.change(backup, by: -1, key: try Self.key(2))
        }
        #expect([0x3D, 0x8D, 0x3B, 0x8B, 0x0C, 0xDC, 0xC7].allSatisfy { card.count($0) == 0 })
    }

    @Test("A key that may write and not read: written, and not read back")
    func unreadable() throws {
        let card = Self.card(.ev1, rights: [0xF0, 0x12])
        #expect(try !card.tag.write(Self.id(1), Self.bytes(.backup), at: 10, key: Self.key(2)))
        #expect(try Self.isWritten(.backup, card))
    }

    @Test("A wrong key is tried once; keys of another kind are not tried at all")
    func wrongKeys() throws {
        let card = Self.card(.ev2)
        let wrong = try #require(DESFireKey([UInt8](repeating: 0x77, count: 16), number: 2))
        #expect(throws: DESFireError.wrongKey) { _ = try card.tag.read(try Self.id(1), key: wrong) }
        #expect(card.count(0x71) == 1)
        let long = try #require(DESFireKey([UInt8](repeating: 0x77, count: 24), number: 2))
        #expect(throws: DESFireError.keyLength(.aes)) { _ = try card.tag.read(try Self.id(1), key: long) }
        #expect(throws: DESFireError.otherMethod(.iso)) {
            _ = try card.tag.read(try Self.id(1), key: try Self.key(2), method: .iso)
        }
        #expect(card.count(0x71) == 1 && card.count(0x1A) == 0)
    }
}

@Suite("A DESFire that answers anything")
struct DESFireBadAnswerTests {
    /// A card that changes or cuts one answer, or answers without end.
    private final class Liar: CardChannel {
        let card: TroubledDESFire
        let place: Int
        let change: ([UInt8]) -> [UInt8]
        private(set) var count = 0

        init(_ card: TroubledDESFire, _ place: Int, _ change: @escaping ([UInt8]) -> [UInt8]) {
            (self.card, self.place, self.change) = (card, place, change)
        }

        func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
            count += 1
            let answer = try card.transceive(frame, timeout: timeout)
            return count >= place ? change(answer) : answer
        }
    }

    @Test("Looking and reading end, whatever the card answers", arguments: 0..<6)
    func anything(_ kind: Int) throws {
        var generator = SplitMix64(seed: UInt64(kind))
        let application = VirtualDESFire.Application(
            id: [0xF5, 0xA1, 0xC0], settings: 0x0F, keys: [DESFireChipKey(.aes, DESFireWriteTests.keys[0])],
            versions: [])
        var ends = 0
        for place in 1...24 {
            var virtual = VirtualDESFire(.ev2, uid: [4, 1, 2, 3, 4, 5, 6], card: application)
            virtual.applications = [application]
            let card = Liar(TroubledDESFire(virtual), place) { answer in
                switch kind {
                case 0: return Array(answer.dropLast(3)) + [0x91, 0x00]
                case 1: return [UInt8](repeating: 0xFF, count: 59) + [0x91, 0xAF]
                case 2: return [0x91, 0xAF]
                case 3: return []
                case 4: return answer.map { $0 ^ UInt8.random(in: 0...3, using: &generator) }
                default:
                    return (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                        .random(in: 0...255, using: &generator)
                    } + [0x91, 0x00]
                }
            }
            let session = ISO7816Session(channel: card) { () throws(TransportError) in true }
            let tag = DESFireTag(session: session)
            do throws(DESFireError) { _ = try tag.information() } catch { ends += 1 }
            let file = try #require(DESFireFileID("F5A1C0:1"))
            let key = try #require(DESFireKey(DESFireWriteTests.keys[0], number: 0))
            do throws(DESFireError) { _ = try tag.read(file, key: key) } catch { ends += 1 }
            #expect(card.count < 2000)
        }
        #expect(ends > 0)
    }
}

@Suite("Messages of DESFire's errors")
struct DESFireErrorTests {
    private enum Kind: CaseIterable {
        case tag, notDESFire, noSuchApplication, noSuchFile, refused, wrongKey, noSuchKey, keyLength, otherMethod
        case notAllowed, withheld, outOfRange, otherType, notVerified, answerLost
    }

    @Test("Every case describes itself")
    func cases() throws {
        let file = try #require(DESFireFileID("F5A1C0:1"))
        let rights: [DESFireRight] = [.read, .write, .credit, .debit]
        let outcomes: [DESFireOutcome] = [.done, .notDone, .partly, .unknown]
        let types: [DESFireFileType] = [.standard, .backup, .value, .linear, .cyclic, .transactionMAC]
        var errors: [DESFireError] = [
            .tag(.badAnswer), .notDESFire, .noSuchApplication(file.application), .noSuchFile(file),
            .refused(command: 0xBD, status: 0x9D), .wrongKey, .noSuchKey(3), .keyLength(nil), .keyLength(.aes),
            .otherMethod(.d40), .withheld(file), .outOfRange(DESFireRange(wanted: 301, lower: 0, upper: 300)),
            .notVerified,
        ]
        errors += rights.map { .notAllowed(file, $0) }
        errors += outcomes.map { .answerLost($0) } + types.map { .otherType(file, $0) }
        checkSentences(errors) { error -> Kind in
            switch error {
            case .tag: .tag
            case .notDESFire: .notDESFire
            case .noSuchApplication: .noSuchApplication
            case .noSuchFile: .noSuchFile
            case .refused: .refused
            case .wrongKey: .wrongKey
            case .noSuchKey: .noSuchKey
            case .keyLength: .keyLength
            case .otherMethod: .otherMethod
            case .notAllowed: .notAllowed
            case .withheld: .withheld
            case .outOfRange: .outOfRange
            case .otherType: .otherType
            case .notVerified: .notVerified
            case .answerLost: .answerLost
            }
        }
    }

    @Test("Places of files are read as people write them, and nothing else is")
    func places() {
        #expect(DESFireFileID("f5a1c0:31")?.description == "F5A1C0:31")
        for text in [
            "F5A1C0", "F5A1C0:", "F5A1C0:32", "F5A1C0:-1", "F5A1C0:+1", "F5A1C:1", "F5A1C0:1:2", "G5A1C0:1", ":1",
        ] {
            #expect(DESFireFileID(text) == nil, "\(text)")
        }
    }
}
