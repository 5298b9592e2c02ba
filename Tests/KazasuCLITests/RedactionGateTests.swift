// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KazasuCLI

@Suite("The gate of --redact")
struct RedactionGateTests {
    /// A document that names a card.
    private static func document(_ number: Int) -> String {
        let digits = String(UInt64(0x0110_0000_0000_0000) + UInt64(number) * 0x0101_0101, radix: 16)
        return "{\"tag\": \"0\(digits)\"}"
    }

    @Test("Forgets the oldest cards, but not those that come again, nor what the command line and settings have")
    func forgetting() {
        let gate = RedactionGate(recent: 1000)
        gate.start(["--idm", "0101031234567890"])
        gate.learn(text: "Hanako Yamada", isLasting: true)
        gate.learn(text: "Taro Tanaka")
        let all = gate.masked("Hanako Yamada, Taro Tanaka, 01:01:03:12:34:56:78:90")
        #expect(all == "*************, ***********, 01:01:00:00:00:00:00:00")
        var most = 0
        for number in 0..<1000 {
            // It is masked by what its own document says.
            let masked = gate.masked(Self.document(number))
            #expect(masked.hasSuffix("000000000000\"}"))
            most = max(most, gate.size)
        }
        #expect(most < 2100)
        #expect(gate.masked("Hanako Yamada 0101031234567890") == "************* 0101000000000000")
        // The last ones are known without being named, the first one is not.
        #expect(gate.masked(Self.document(999).replacing("tag", with: "other")).hasSuffix("000000000000\"}"))
        let first = Self.document(1).replacing("tag", with: "other")
        #expect(gate.masked(first) == first)
        #expect(gate.masked(Self.document(1)) != Self.document(1))
        #expect(gate.masked(first) != first)
    }
}
