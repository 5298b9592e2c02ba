// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What no output may contain under `--redact`: a card's numbers and names, in any notation.
package struct PersonalValues: Sendable {
    /// Numbers, with how many of their first bytes are not the card's own.
    private var numbers: [(bytes: [UInt8], kept: Int)] = []
    /// Names and numbers as they are printed.
    package var texts: [String] = []
    /// Bytes of blocks, as lower-case hexadecimal digits.
    package var digits: [String] = []

    /// Makes a set without values.
    package init() {}

    /// Whether there is nothing to look for.
    package var isEmpty: Bool { numbers.isEmpty && texts.isEmpty && digits.isEmpty }

    /// Adds an IDm, of which the first two bytes say who made the card.
    package mutating func add(idm: [UInt8]) { numbers.append((idm, 2)) }

    /// Adds a UID, of which the first byte says who made the card.
    package mutating func add(uid: [UInt8]) { numbers.append((uid, 1)) }

    /// Adds the numbers that a card's file or a document names.
    package mutating func add(numbersIn json: String) {
        for found in json.matches(of: /"(idm|uid)"\s*:\s*"([0-9a-f]{8,20})"/) {
            let bytes = Self.bytes(found.2)
            if found.1 == "idm" { add(idm: bytes) } else { add(uid: bytes) }
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), text)
        while let byte = UInt8(rest.prefix(2), radix: 16), rest.count > 1 {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// What of it an output contains, in words for a test's message.
    package func leaks(_ output: String) -> [String] {
        let plain = Data(output.utf8)
        let lower = Data(output.lowercased().utf8)
        // Whatever stands between the digits: nothing, a space, a colon, a hyphen.
        let packed = lower.filter { ![UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "-")].contains($0) }
        var leaks = texts.filter { Self.contains(plain, $0) } + digits.filter { Self.contains(packed, $0) }
        for (bytes, kept) in numbers {
            let own = Array(bytes.dropFirst(kept))
            guard own.contains(where: { $0 != 0 }) else { continue }
            let whole = own.count < 4 ? bytes : own
            leaks += [whole, whole.reversed()].map(Self.hex).filter { Self.contains(packed, $0) }
            for order in [bytes, bytes.reversed()] where bytes.count <= 8 {
                let decimal = String(order.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
                if decimal.utf8.count > 7, Self.contains(lower, decimal) { leaks.append(decimal) }
            }
            leaks += Self.partlyMasked(bytes, kept).filter { Self.contains(lower, $0) }
        }
        return leaks
    }

    /// Whether this text is in an output; by Foundation, which is optimized: thousands of outputs are searched.
    private static func contains(_ output: Data, _ text: String) -> Bool { output.range(of: Data(text.utf8)) != nil }

    /// The last digits behind something that stands for the others.
    private static func partlyMasked(_ bytes: [UInt8], _ kept: Int) -> [String] {
        let digits = hex(bytes)
        let last = digits.suffix(4)
        guard last != "0000" else { return [] }
        let zeros = String(repeating: "0", count: digits.utf8.count - 2 * kept - 4)
        return ["…\(last)", "...\(last)", "*\(last)", "\(digits.prefix(2 * kept))\(zeros)\(last)"]
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
