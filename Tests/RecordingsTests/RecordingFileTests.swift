// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import Glibc
import ReaderCore
import TestSupport
import Testing
import VirtualReader

@testable import Recordings

/// Every file of `kazasu contribute` in `Fixtures/recordings`: a new one is a test without a line of code. With
/// `KAZASU_RECORD=1` the rows of `Docs/tested-with.md` are written again.
@Suite("Recordings of kazasu contribute")
struct RecordingFileTests {
    private static let folder = "Fixtures/recordings"

    static let files = TestFiles.names(in: folder).filter { name in
        guard name.hasSuffix(".jsonl"), let bytes = try? TestFiles.read("\(folder)/\(name)") else { return false }
        return bytes.starts(with: #"{"schema":"kazasu.recording/"#.utf8)
    }

    @Test("There are some, of several kinds of card")
    func some() throws {
        #expect(Self.files.count >= 5)
    }

    @Test("Each one is masked, and of this form", arguments: files)
    func isMasked(file: String) throws {
        let check = RecordingCheck(try TestFiles.read("\(Self.folder)/\(file)"), name: file)
        #expect(check.faults == [])
        #expect(check.header?.course == .reader)
        // The file's name says what it is of.
        if check.header?.isSimulated == true { #expect(file.hasPrefix("virtual-")) }
    }

    @Test("Each one plays to the end that it had, without waiting", arguments: files)
    func plays(file: String) throws {
        let bytes = try TestFiles.read("\(Self.folder)/\(file)")
        let recorded = RecordingCheck(bytes, name: nil).items.compactMap { item -> Recording.Outcome? in
            guard case .outcome(let outcome) = item, outcome.findings.isEmpty else { return nil }
            return outcome
        }
        let transcript = try Transcript(parsing: bytes).playing(Transcript.recordingCommand)
        let again = Made(ReplayReader(transcript), hasCard: recorded.count > 1)
        #expect(again.outcomes == recorded)
    }

    @Test("The table of real readers has a row for each real recording, and no other", arguments: Language.allCases)
    func rows(language: Language) throws {
        let rows = try Self.files.compactMap { file in
            RecordingRow(RecordingCheck(try TestFiles.read("\(Self.folder)/\(file)"), name: file), name: file)
        }.sorted().map { $0.text(language) }
        let name = language == .english ? "Docs/tested-with.md" : "Docs/tested-with.ja.md"
        let text = String(decoding: try TestFiles.read(name), as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        let first = try #require(lines.firstIndex { $0.hasPrefix("| --- |") }) + 1
        let last = lines[first...].firstIndex { !$0.hasPrefix("| ") } ?? lines.endIndex
        if let record = getenv("KAZASU_RECORD"), record.pointee != 0 {
            lines.replaceSubrange(first..<last, with: rows)
            let file = try #require(fopen("\(TestFiles.root)/\(name)", "wb"))
            fputs(lines.joined(separator: "\n"), file)
            fclose(file)
        } else {
            #expect(Array(lines[first..<last]) == rows)
        }
    }

    @Test("A real recording has a row, a simulated one has none")
    func rowOfOne() throws {
        let made = try Made("Fixtures/cards/suica-p1/card.json")
        #expect(RecordingRow(RecordingCheck(made.bytes, name: nil), name: made.name) == nil)
        let real = made.text.replacing(",\"simulated\":true", with: "")
        let row = try #require(RecordingRow(RecordingCheck(Array(real.utf8), name: nil), name: "rc-s380-0.jsonl"))
        #expect(row.text(.english).hasPrefix("| 2026-11-28 | 0.3.0 | debian 12, 6.1.0 | OTHER | FeliCa | complete | ["))
        #expect(row.text(.japanese).contains("| 最後まで完了 |"))
    }
}
