// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The two ways in which `scan` lists nodes.
@Suite("scan proves or walks", .waits)
struct ScanTests {
    @Test("Both ways print the same", arguments: ["suica-p1", "edy", "five-systems", "octopus", "felica-lite-s"])
    func same(_ name: String) throws {
        for format in [["--json"], []] {
            let proved = try Kazasu.run(["scan", "--reader", Card.fixture(name)] + format)
            let walked = try Kazasu.run(["scan", "--walk", "--reader", Card.fixture(name)] + format)
            #expect(proved.end == .exited(0) && walked.end == .exited(0))
            #expect(Self.withoutWay(proved.output) == Self.withoutWay(walked.output))
            #expect(proved.errors.isEmpty && walked.errors.isEmpty)
        }
    }

    @Test("--verbose says how each system was read") func explained() throws {
        let card = Card.fixture("suica-p1")
        let proved = try Kazasu.run(["scan", "-v", "--reader", card])
        let walked = try Kazasu.run(["scan", "-v", "--walk", "--reader", card])
        let japanese = try Kazasu.run(["scan", "-v", "--lang", "ja", "--reader", card])
        let dumped = try Kazasu.run(["dump", "-v", "--reader", card])
        for system in ["0003", "86A7", "FE00"] {
            #expect(proved.errors.contains("system \(system): proved ("))
            #expect(proved.errors.contains("nodes listed by the card, the others confirmed)"))
            #expect(proved.errors.contains("complete if the card lists each node once"))
            #expect(walked.errors.contains("system \(system): listed by the card, "))
            #expect(japanese.errors.contains("システム \(system): 証明（"))
            #expect(dumped.errors.contains("system \(system): proved ("))
        }
    }

    @Test(
        "--verbose says how many exchanges there were, how long the model expects them to take, and how long they took")
    func timed() throws {
        let suica = try Kazasu.run("scan", "-v", "--reader", Card.fixture("suica-p1"))
        let english =
            /[0-9]+ Pollings, [0-9]+ commands: [0-9]+ ms \(model: [1-9][0-9]* ms on air and in the card\), [0-9]+ ms since/
        #expect(suica.errors.replacing("\n", with: " ").contains(english), "\(suica.errors)")
        let japanese = try Kazasu.run("balance", "-v", "--lang", "ja", "--reader", Card.fixture("suica-p1"))
        let words = /Polling 1 回、コマンド 1 回: [0-9]+ ms（モデル: 電波とカードで [1-9][0-9]* ms）、プログラムの開始から [0-9]+ ms/
        #expect(japanese.errors.replacing("\n", with: "").contains(words), "\(japanese.errors)")
    }

    /// Without what says which way was taken: of a document, `listing` and `searchedNodes`.
    private static func withoutWay(_ output: String) -> String {
        output.replacing(/"listing": "[A-Za-z]+",\s*/, with: "").replacing(/"searchedNodes": [0-9]+,\s*/, with: "")
    }

    @Test("A document says which lists were proved, and by how many answers") func documented() throws {
        let proved = try Kazasu.run("scan", "--json", "--reader", Card.fixture("suica-p1"))
        let walked = try Kazasu.run("scan", "--walk", "--json", "--reader", Card.fixture("suica-p1"))
        #expect(proved.output.contains("\"listing\": \"proved\"") && proved.output.contains("\"searchedNodes\": "))
        #expect(!walked.output.contains("proved") && !walked.output.contains("searchedNodes"))
    }
}
