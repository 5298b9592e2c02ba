// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// How a virtual passport deviates from the standard, as real ones are reported to.
package struct PassportQuirks: Hashable, Sendable {
    /// The most bytes that one protected READ may request; a longer one is refused.
    package var longestRead = 65_536
    /// The status word for a longer READ.
    package var lengthStatus: UInt16 = StatusWord.wrongLength
    /// Whether a refused length is answered in the session; otherwise it comes in the clear and ends the session.
    package var keepsSession = false
    /// Whether a READ of everything (object 97 with 00) is refused with 6B00, and the session is over.
    package var refusesZero = false
    /// Whether a READ up to the end of the file is answered with 6282.
    package var warnsAtEnd = false
    /// Whether the code of the answer that ends a file is wrong.
    package var spoilsLastCode = false
    /// The status word for a cryptogram under other keys.
    package var wrongNumber: UInt16 = StatusWord.mismatch
    /// The wrong cryptograms in a row that are accepted, 1 to 15: then 63Cx is answered, and 63C0 to every further one; `nil` does not count.
    package var tries: Int?
    /// The tries that were used.
    var used = 0

    package init() {}

    /// The answer to a wrong cryptogram.
    mutating func refuse() -> UInt16 {
        guard let tries else { return wrongNumber }
        used = min(used + 1, tries)
        return StatusWord.triesLeft | UInt16(clamping: tries - used)
    }

    /// Whether no further cryptogram is accepted.
    var isBlocked: Bool { tries.map { used >= $0 } ?? false }

    /// The status word for a protected READ that requests this many bytes; `nil` if it is carried out.
    func refusal(ofRead expected: Int?) -> UInt16? {
        if refusesZero, expected == 256 { return StatusWord.wrongOffset }
        return expected.map { $0 > longestRead } == true ? lengthStatus : nil
    }

    /// Changes the answer to a READ that reaches the end of the file.
    func atEnd(_ reply: FileCardReply) -> FileCardReply {
        warnsAtEnd ? FileCardReply(reply.data, StatusWord.endOfFile) : reply
    }
}

extension PassportQuirks {
    private static let keys: Set<String> = [
        "longestRead", "lengthStatus", "keepsSession", "refusesZero", "warnsAtEnd", "spoilsLastCode", "wrongNumber",
        "tries",
        "comment",
    ]

    /// Reads `passport.quirks`.
    init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(Self.keys)
        if let value = try json.optional("longestRead") { longestRead = try value.integer(in: 1...65_536) }
        if let value = try json.optional("lengthStatus") { lengthStatus = try value.code(FileIdentifier.self).rawValue }
        if let value = try json.optional("keepsSession") { keepsSession = try value.bool() }
        if let value = try json.optional("refusesZero") { refusesZero = try value.bool() }
        if let value = try json.optional("warnsAtEnd") { warnsAtEnd = try value.bool() }
        if let value = try json.optional("spoilsLastCode") { spoilsLastCode = try value.bool() }
        if let value = try json.optional("wrongNumber") { wrongNumber = try value.code(FileIdentifier.self).rawValue }
        if let value = try json.optional("tries") { tries = try value.integer(in: 1...15) }
    }
}
