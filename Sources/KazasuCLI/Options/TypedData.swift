// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A record's type and data as a user types them: `text/plain=hello` or `text/vcard=@card.vcf`, `@-` for standard input.
struct TypedData: ExpressibleByArgument, Equatable, Sendable {
    var type: String
    private var text: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, (1...255).contains(parts[0].utf8.count),
            parts[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        type = String(parts[0])
        text = String(parts[1])
    }

    /// The data, read from the file where one is named.
    func data() throws(Failure) -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        return try Files.read(String(text.dropFirst()))
    }
}
