// SPDX-License-Identifier: Apache-2.0

internal import CardModel

extension FileCardOptions {
    private static let keys: Set<String> = [
        "longAnswers", "endlessMore", "endOfFile", "longestRead", "extendedLength", "refusedP2", "queryStatus",
        "unknownReference", "answers", "statusWords", "longestAnswer", "waitingTimeExtensions",
        "waitingTimeMultiplier", "answerMilliseconds", "faults",
    ]

    /// Reads `virtual` of a card of files.
    static func read(_ json: JSONCursor?) throws(DocumentError) -> (FileCardOptions, ISODEPOptions) {
        var options = FileCardOptions()
        var isoDEP = ISODEPOptions()
        guard let json else { return (options, isoDEP) }
        try json.allowOnly(keys)
        try options.readForms(json)
        try options.readAnswers(json)
        if let count = try json.optional("waitingTimeExtensions") {
            isoDEP.waitingTimeExtensions =
                count.value == .string("endless") ? Int.max : try count.integer(in: 0...1_000)
        }
        if let factor = try json.optional("waitingTimeMultiplier") {
            isoDEP.waitingTimeMultiplier = UInt8(clamping: try factor.integer(in: 0...63))
        }
        if let time = try json.optional("answerMilliseconds") {
            isoDEP.answerTime = .milliseconds(try time.integer(in: 0...60_000))
        }
        return (options, isoDEP)
    }

    private mutating func readForms(_ json: JSONCursor) throws(DocumentError) {
        if let word = try json.optional("longAnswers") {
            longAnswers = try word.word(
                Dictionary(uniqueKeysWithValues: LongAnswers.allCases.map { ($0.rawValue, $0) }))
        }
        if let word = try json.optional("endOfFile") {
            endOfFile = try word.word(Dictionary(uniqueKeysWithValues: EndOfFile.allCases.map { ($0.rawValue, $0) }))
        }
        if let value = try json.optional("endlessMore") { endlessMore = try value.bool() }
        if let value = try json.optional("longestRead") { longestRead = try value.integer(in: 0...65_536) }
        if let value = try json.optional("longestAnswer") { longestAnswer = try value.integer(in: 0...65_538) }
        if let value = try json.optional("extendedLength") { takesExtendedLength = try value.bool() }
        if let list = try json.optional("refusedP2") {
            refusedSelections = Set(
                try list.list { value throws(DocumentError) in try value.bytes(count: 1).first ?? 0 })
        }
    }

    private mutating func readAnswers(_ json: JSONCursor) throws(DocumentError) {
        if let value = try json.optional("queryStatus") { queryStatus = try value.code(FileIdentifier.self).rawValue }
        if let value = try json.optional("unknownReference") {
            unknownReferenceStatus = try value.code(FileIdentifier.self).rawValue
        }
        for (key, value) in try json.optional("answers")?.members() ?? [] {
            guard let command = JSONCursor(.string(key)).hexadecimal, !command.isEmpty else {
                throw value.malformed("a command APDU in hexadecimal as its name")
            }
            if case .string = value.value {
                answers[command] = [try value.bytes(atMost: 65_538)]
            } else {
                answers[command] = try value.list { answer throws(DocumentError) in try answer.bytes(atMost: 65_538) }
            }
        }
        for (key, value) in try json.optional("statusWords")?.members() ?? [] {
            guard let code = JSONCursor(.string(key)).hexadecimal, code.count == 1 else {
                throw value.malformed("an instruction byte as its name")
            }
            instructionStatus[code[0]] = try value.code(FileIdentifier.self).rawValue
        }
    }
}
