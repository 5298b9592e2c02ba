// SPDX-License-Identifier: Apache-2.0

import CardModel
import CommandDescription
import TestSupport
import Testing

@testable import KazasuCLI
@testable import KazasuServiceCLI

/// `Errors/Data/errors.tsv`. That each reason stands on the pages of errors is a check of lint.py.
@Suite("Table of errors")
struct ErrorTableTests {
    private static let rows: [[String]] = {
        let path = "Sources/Programs/KazasuCLI/Errors/Data/errors.tsv"
        let text = String(decoding: (try? TestFiles.read(path)) ?? [], as: UTF8.self)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.dropFirst()
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }()

    /// What stands in braces in the texts of the table.
    private static let placeholders: [String] = {
        var found: Set<String> = []
        for part in rows.joined().joined(separator: " ").split(separator: "{").dropFirst() {
            found.insert(String(part.prefix { $0 != "}" }))
        }
        return found.sorted()
    }()

    @Test("No line is malformed, every code has a row with a status, and every other row is a remedy that is used")
    func complete() {
        #expect(ErrorRow.table.faults.isEmpty, "\(ErrorRow.table.faults)")
        for code in CommandError.Code.allCases {
            #expect(ErrorRow.table[code.rawValue]?.status != nil, "\(code) has no row")
        }
        let remedies = Set(Self.rows.filter { CommandError.Code(rawValue: $0[0]) == nil }.map { $0[0] })
        for row in Self.rows where remedies.contains(row[0]) {
            #expect(row.count == 7 && row[1].isEmpty, "\(row[0]) is neither a code nor a remedy")
        }
        let named = Self.rows.compactMap { $0.count == 6 && $0[5].hasPrefix("@") ? String($0[5].dropFirst()) : nil }
        #expect(Set(named).union(Remedy.allCases.map(\.rawValue)) == remedies)
    }

    @Test("A remedy names commands, options and pages that exist", arguments: placeholders)
    func names(_ placeholder: String) throws {
        if Int(placeholder) != nil || placeholder.hasSuffix("_") && Int(placeholder.dropLast()) != nil { return }
        if placeholder.hasPrefix("$") {
            let words = ErrorRow.command(placeholder.dropFirst()).words.split(separator: " ").map(String.init)
            let command = try #require(OwnProgramCommands.command(words), "no command \(words)")
            let names = Self.options(of: command)
            let given = placeholder.split(separator: " ").filter { $0.hasPrefix("--") }.map {
                $0.split(separator: "=")[0]
            }
            for option in given where option != "--help" {
                #expect(names.contains(String(option.dropFirst(2))), "\(words) has no \(option)")
            }
        } else if placeholder.hasPrefix("--") {
            let option = placeholder.drop { $0 == "-" }.split(separator: "!")[0]
            let all = OwnProgramCommands.all.compactMap { $0.command as? any KazasuCommand.Type }
            #expect(all.contains { Self.options(of: $0).contains(String(option)) }, "no option \(option)")
        } else {
            #expect(throws: Never.self, "no page \(placeholder)") { try TestFiles.read("Docs/\(placeholder)") }
        }
    }

    @Test("A command is said in the words of its caller, with what only a command line has where there is one")
    func commands() {
        let (words, arguments) = ErrorRow.command("ledger sum --by=station --list <--format csv>")
        #expect(words == "ledger sum")
        #expect(Caller.commandLine.command(words, arguments) == "'kazasu ledger sum --by station --list --format csv'")
        #expect(ErrorRow.command("dump <-o FILE>").words == "dump")
        #expect(ErrorRow.command("scan").arguments.isEmpty)
        #expect(ErrorRow.filled("a {0} {1} {9} b {", ["x", "y"]) == "a x y  b {")
        #expect(ErrorRow.filled("{0_}は {1_}", ["a.bin", "b"]) == "a.bin は b")
        #expect(ErrorRow.filled("{0_}は", ["表"]) == "表は")
    }

    private static func options(of command: any KazasuCommand.Type) -> [String] {
        CommandSpec(command).arguments.flatMap(\.names).map { String($0.drop { $0 == "-" }) }
    }
}
