// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import KazasuService
import KazasuLedger
import KazasuTaps
import Collect
import LedgerSupport
import TestSupport
import Testing

@Suite("Messages of the errors of the service")
struct ServiceErrorTests {
    private enum LedgerKind: CaseIterable {
        case damaged, newer, notALedger, foreignJournal, inaccessible, diskFull, locked, noHome, noSuchCard
        case severalCards, otherCurrency, nameInUse, sameCard, otherPurses, severalNames, noSuchStation, notASection,
            noSuchLine,
            noSuchRecord
        case noSuchImport, nothingToUndo, noHistory, otherCard, columns, noCharacterSet, failed
    }

    @Test("Every error of a ledger describes itself, without the number of a card")
    func ledger() throws {
        let number = "0101031234567890"
        let folder = try LedgerFolder()
        let example = try folder.open()
        try example.keep(LedgerCardMaker.transit(1).dump(after: 1))
        let purses = Set(try example.records().map(\.purse))
        let errors: [LedgerError] = [
            .damaged(path: "a"), .newer(path: "a", version: 9, supported: 3), .notALedger(path: "a"),
            .foreignJournal(path: "a-wal"), .inaccessible(path: "a", code: EACCES),
            .inaccessible(path: "a", code: 1_014), .diskFull(path: "a"), .locked(path: "a"), .noHome,
            .noSuchCard(number), .severalCards(number), .otherCurrency(cards: Array(purses)), .nameInUse(number),
            .sameCard, .otherPurses, .severalNames, .noSuchStation("Atlantis"),
            .notASection("Ueno"), .noSuchLine("Nile"),
            .noSuchRecord(number), .noSuchImport(7), .nothingToUndo, .noHistory, .otherCard(dump: 1),
            .columns(line: 2, .malformed), .noCharacterSet, .failed(code: 1),
        ]
        checkSentences(errors) { error -> LedgerKind in
            switch error {
            case .damaged: .damaged
            case .newer: .newer
            case .notALedger: .notALedger
            case .foreignJournal: .foreignJournal
            case .inaccessible: .inaccessible
            case .diskFull: .diskFull
            case .locked: .locked
            case .noHome: .noHome
            case .noSuchCard: .noSuchCard
            case .severalCards: .severalCards
            case .otherCurrency: .otherCurrency
            case .nameInUse: .nameInUse
            case .sameCard: .sameCard
            case .otherPurses: .otherPurses
            case .severalNames: .severalNames
            case .noSuchStation: .noSuchStation
            case .notASection: .notASection
            case .noSuchLine: .noSuchLine
            case .noSuchRecord: .noSuchRecord
            case .noSuchImport: .noSuchImport
            case .nothingToUndo: .nothingToUndo
            case .noHistory: .noHistory
            case .otherCard: .otherCard
            case .columns: .columns
            case .noCharacterSet: .noCharacterSet
            case .failed: .failed
            }
        }
        for error in errors { #expect(!error.description.contains(number)) }
        #expect(errors[4].description == "the ledger a cannot be opened: permission denied")
        #expect(errors[5].description == "the ledger a cannot be opened: SQLite error 14")
    }

    private enum ColumnKind: CaseIterable { case unknownField, unknownSetting, malformed, noColumns }

    @Test("Every fault of a file of columns describes itself")
    func columns() {
        checkSentences([.unknownField("x"), .unknownSetting("@x"), .malformed, .noColumns]) {
            (fault: LedgerError.ColumnFault) -> ColumnKind in
            switch fault {
            case .unknownField: .unknownField
            case .unknownSetting: .unknownSetting
            case .malformed: .malformed
            case .noColumns: .noColumns
            }
        }
        #expect(LedgerError.ColumnFault.unknownField("x").description.hasPrefix("unknown field 'x'; one of date, "))
    }

    private enum OutboxKind: CaseIterable {
        case locked, unusable, newer, foreign, foreignJournal, damaged, full, readOnly, failed
    }

    @Test("Every error of an outbox describes itself")
    func outbox() {
        let errors: [OutboxError] = [
            .locked(path: "a"), .unusable(path: "a", errno: EACCES), .newer(path: "a"), .foreign(path: "a"),
            .foreignJournal(path: "a-wal"), .damaged(path: "a"), .full, .readOnly, .failed(code: 1),
        ]
        checkSentences(errors) { error -> OutboxKind in
            switch error {
            case .locked: .locked
            case .unusable: .unusable
            case .newer: .newer
            case .foreign: .foreign
            case .foreignJournal: .foreignJournal
            case .damaged: .damaged
            case .full: .full
            case .readOnly: .readOnly
            case .failed: .failed
            }
        }
        #expect(errors[1].description == "a cannot be written: permission denied")
    }

    private enum StoreKind: CaseIterable { case unreachable, data, statement, foreign, foreignJournal }

    @Test("Every error of a database of events describes itself")
    func store() {
        let errors: [EventStoreError] = [
            .unreachable(LocalizedText("no route", "経路がありません")), .data("22P02"), .statement("42501"), .foreign,
            .foreignJournal("a-journal"),
        ]
        checkSentences(errors) { error -> StoreKind in
            switch error {
            case .unreachable: .unreachable
            case .data: .data
            case .statement: .statement
            case .foreign: .foreign
            case .foreignJournal: .foreignJournal
            }
        }
    }
}
