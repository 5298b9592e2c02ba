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
            #expect(proved.output == walked.output)
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
            #expect(proved.errors.contains("system \(system): proved, "))
            #expect(walked.errors.contains("system \(system): listed by the card, "))
            #expect(japanese.errors.contains("システム \(system): 証明、通信 "))
            #expect(dumped.errors.contains("system \(system): proved, "))
        }
    }
}
