// SPDX-License-Identifier: Apache-2.0

import KazasuReading
import Testing

@testable import KazasuCLI
@testable import KazasuCommands

private typealias CommandStatus = KazasuReading.ExitStatus

@Suite("What goes on with a journal")
struct JournalHintTests {
    private static let kinds: [(kind: StepJournal.Kind, words: String)] = [
        (LiteJournal.kind, "lite resume"), (StandardJournal.kind, "standard resume"), (TagJournal.kind, "tag resume"),
    ]

    init() { Program.install(allCommands, helpGroups) }

    private static func hint(_ kind: StepJournal.Kind, _ status: CommandStatus) -> String? {
        kind.ended(by: CommandError(status, "cardLost", "the card was lost", hint: "before"), "/a b") { $0 }.hint
    }

    @Test("A shell can run it", arguments: kinds.indices)
    func shell(index: Int) {
        let row = Self.kinds[index]
        #expect(Self.hint(row.kind, .interruptedReading) == "kazasu \(row.words) --journal '/a b'")
    }

    @Test("A program reads its own words")
    func programs() {
        CommandHost.$current.withValue(CommandHost(for: .rpc)) {
            let hint = Self.hint(TagJournal.kind, .interrupted) ?? ""
            #expect(hint.contains("tag.resume") && hint.contains("journal=/a b"), "\(hint)")
        }
        CommandHost.$current.withValue(CommandHost(for: .python)) {
            #expect(Self.hint(TagJournal.kind, .noCard) == "kazasu.tag_resume(journal=\"/a b\")")
            #expect(Self.hint(StandardJournal.kind, .noCard) == "kazasu.standard_resume(journal=\"/a b\")")
        }
    }

    @Test(
        "An error that leaves nothing to go on with keeps its own",
        arguments: [CommandStatus.usage, .refused, .otherCard])
    fileprivate func others(status: CommandStatus) {
        #expect(Self.hint(TagJournal.kind, status) == "before")
    }
}
