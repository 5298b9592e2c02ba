// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import CardModel
import Glibc
import KazasuLedger
import Synchronization
import LedgerSupport
import TestSupport
import Testing

@Suite("The file of a ledger")
struct LedgerStoreTests {
    @Test(
        "Where it is by default",
        arguments: [
            (["KAZASU_LEDGER": "/a/b.sqlite", "HOME": "/x"], "/a/b.sqlite"),
            (["KAZASU_LEDGER": "", "XDG_DATA_HOME": "/data", "HOME": "/x"], "/data/kazasu/ledger.sqlite"),
            (["XDG_DATA_HOME": "relative", "HOME": "/x"], "/x/.local/share/kazasu/ledger.sqlite"),
        ])
    func place(_ environment: [String: String], _ path: String) throws {
        #expect(try Ledger.defaultPath(environment: environment) == path)
    }

    @Test("Without a home there is no default")
    func noHome() {
        #expect(throws: LedgerError.noHome) { try Ledger.defaultPath(environment: [:]) }
    }

    @Test("The file is private, and the only one while nothing writes")
    func mode() throws {
        let folder = try LedgerFolder()
        let path = folder.folder.path + "/new/kazasu/ledger.sqlite"
        let ledger = try Ledger.open(path)
        try ledger.keep(LedgerCardMaker.transit(20).dump(after: 20))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(["-journal", "-wal", "-shm"].allSatisfy { access(path + $0, F_OK) != 0 })
    }

    /// What can be wrong with a file, as a change of a good one.
    enum Harm: CaseIterable, Sendable {
        case truncated, short, pageOverwritten, newer, otherDatabase, text

        func applied(to bytes: [UInt8]) -> [UInt8] {
            var bytes = bytes
            switch self {
            case .truncated: bytes.removeLast(4_096)
            case .short: bytes = Array(bytes.prefix(60))
            case .pageOverwritten: bytes.replaceSubrange(4_096..<8_192, with: [UInt8](repeating: 0x5A, count: 4_096))
            case .newer: bytes[63] = 99
            case .otherDatabase: bytes.replaceSubrange(68..<72, with: [0, 0, 0, 0])
            case .text: bytes = Array("date,amount\n2026-11-21,-160\n".utf8) + [UInt8](repeating: 0x0A, count: 100)
            }
            return bytes
        }

        func error(_ path: String) -> LedgerError {
            switch self {
            case .truncated, .short, .pageOverwritten: .damaged(path: path)
            case .newer: .newer(path: path, version: 99, supported: 4)
            case .otherDatabase, .text: .notALedger(path: path)
            }
        }
    }

    @Test("Damaged, newer and foreign files are reported and left unchanged", arguments: Harm.allCases)
    func harm(_ harm: Harm) throws {
        let folder = try LedgerFolder()
        try { _ = try folder.open().keep(LedgerCardMaker.transit(60).dump(after: 60)) }()
        let bytes = harm.applied(to: try TestFiles.read(folder.path))
        _ = try folder.folder.write(bytes, as: "ledger.sqlite")
        #expect(throws: harm.error(folder.path)) { try folder.open() }
        #expect(try TestFiles.read(folder.path) == bytes)
        #expect(folder.folder.names == ["ledger.sqlite"])
    }

    @Test("No folder can be made below a file")
    func inaccessible() throws {
        let folder = try LedgerFolder()
        _ = try folder.folder.write([1], as: "file")
        let path = folder.folder.path + "/file/ledger.sqlite"
        #expect(throws: LedgerError.inaccessible(path: path, code: ENOTDIR)) { try Ledger.open(path) }
    }

    @Test("A full disk keeps what was there, and nothing by half")
    func fullDisk() throws {
        let folder = try LedgerFolder()
        let maker = LedgerCardMaker.transit(2_000)
        let before = try {
            let ledger = try folder.open()
            try ledger.keep(maker.dump(after: 20))
            return try ledger.records()
        }()
        let pages = try TestFiles.read(folder.path).count / 4_096
        let dumps = stride(from: 40, through: 2_000, by: 20).map { maker.dump(after: $0) }
        let tight = try folder.open { $0.pageLimit = pages + 10 }
        #expect(throws: LedgerError.diskFull(path: folder.path)) { try tight.keep(dumps, source: LedgerSource(.file)) }
        #expect(try tight.records() == before)
        let roomy = try folder.open()
        try roomy.verify()
        #expect(try roomy.keep(dumps, source: LedgerSource(.file)).added == 1_980)
    }

    @Test("An import that is killed at any moment leaves the file unchanged")
    func killed() throws {
        let folder = try LedgerFolder()
        let maker = LedgerCardMaker.transit(1_200)
        try { _ = try folder.open().keep(maker.dump(after: 20)) }()
        // What the disk holds at a moment is what a killed program leaves: the file in part and its journal.
        let copies = try TemporaryFolder()
        let moments = Mutex<[Int]>([])
        let ledger = try folder.open { options in
            // So little memory that pages go to the disk long before the end.
            options.cacheSize = 16
            options.progress = { [path = folder.path] done, _ in
                guard done % 7 == 0, let file = try? TestFiles.read(path) else { return }
                guard (try? copies.write(file, as: "\(done).sqlite")) != nil else { return }
                if let journal = try? TestFiles.read(path + "-journal") {
                    _ = try? copies.write(journal, as: "\(done).sqlite-journal")
                }
                moments.withLock { $0.append(done) }
            }
        }
        let before = try ledger.records()
        let dumps = stride(from: 40, through: 1_200, by: 20).map { maker.dump(after: $0) }
        try ledger.keep(dumps, source: LedgerSource(.file))
        let done = moments.withLock { $0 }
        #expect(done.count == 9)
        // The test shows nothing unless the file was half written at some moment.
        let original = try TestFiles.read(copies.path + "/0.sqlite")
        #expect(try done.contains { try TestFiles.read("\(copies.path)/\($0).sqlite") != original })
        for moment in done {
            let left = try Ledger.open("\(copies.path)/\(moment).sqlite")
            try left.verify()
            #expect(try left.records() == before)
            #expect(try left.keep(dumps, source: LedgerSource(.file)).added == 1_180)
        }
    }

    @Test("Two programs write at once, and nothing is lost")
    func twoWriters() async throws {
        let folder = try LedgerFolder()
        _ = try folder.open()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    let maker = LedgerCardMaker.transit(400, idm: 0x0101_0312_0000_0010 + UInt64(writer))
                    let ledger = try folder.open { $0.patience = 60 }
                    var added = 0
                    for visit in stride(from: 10, through: 400, by: 10) {
                        added += try ledger.keep(maker.dump(after: visit)).added
                    }
                    return added
                }
            }
            var all = 0
            for try await added in group { all += added }
            #expect(all == 800)
        }
        let ledger = try folder.open()
        #expect(try ledger.cards().map(\.records) == [400, 400])
        #expect(try ledger.gaps().isEmpty)
        try ledger.verify()
    }

    @Test("A dump without a history, or of another card, changes nothing")
    func refused() throws {
        let folder = try LedgerFolder()
        let ledger = try folder.open()
        let (one, other) = (LedgerCardMaker.transit(20), LedgerCardMaker.transit(20, idm: 0x0101_0312_0000_0002))
        try ledger.keep(one.dump(after: 20))
        let bytes = try TestFiles.read(folder.path)
        #expect(throws: LedgerError.noHistory) { try ledger.keep(one.dump([])) }
        #expect(throws: LedgerError.otherCard(dump: 1)) {
            try ledger.keep(
                [one.dump(after: 20), other.dump(after: 20)], source: LedgerSource(.file), of: "0101031200000001")
        }
        #expect(throws: LedgerError.noSuchCard("nobody")) {
            try ledger.keep([one.dump(after: 20)], source: LedgerSource(.file), of: "nobody")
        }
        #expect(try TestFiles.read(folder.path) == bytes)
    }

    @Test("New records come as a sequence, each once")
    func additions() async throws {
        let maker = LedgerCardMaker.transit(40)
        let ledger = try LedgerFolder().open()
        let additions = ledger.additions()
        for visit in [20, 20, 25, 40] { try ledger.keep(maker.dump(after: visit)) }
        var iterator = additions.makeAsyncIterator()
        var serials: [Int?] = []
        while serials.count < 40, let record = await iterator.next() { serials.append(record.record.serial) }
        #expect(serials == maker.entries.map(\.serial))
        // Those of another ledger are new, too.
        let (other, longer) = (try LedgerFolder().open(), LedgerCardMaker.transit(50))
        try other.keep(longer.dump(after: 50))
        #expect(try ledger.merge(other).added == 10)
        while serials.count < 50, let record = await iterator.next() { serials.append(record.record.serial) }
        #expect(serials == longer.entries.map(\.serial))
    }

    @Test("With a keyed hash no IDm is in the file")
    func keyed() throws {
        let folder = try LedgerFolder()
        let maker = LedgerCardMaker.transit(20)
        let ledger = try folder.open { $0.cardKey = { _ in "00112233445566778899aabbccddeeff" } }
        try ledger.keep(maker.dump(after: 20))
        #expect(try ledger.cards().map(\.purse.card) == ["00112233445566778899aabbccddeeff"])
        #expect(try ledger.records().allSatisfy { $0.uid.hasPrefix("0003.aabbccddeeff.") })
        let text = String(decoding: try TestFiles.read(folder.path), as: UTF8.self)
        #expect(!text.contains("0101031200000001"))
        #expect(try ledger.records(LedgerFilter(cards: ["0101031200000001"])).count == 20)
    }
}
