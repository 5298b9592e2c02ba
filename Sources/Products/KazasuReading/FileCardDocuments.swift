// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
public import CardVerification

// What was read of a card with files, as the commands print it with `--json`.

extension FileCardResult where Report == LicenseReport {
    /// The document `kazasu.license/1`, as `kazasu license --json` prints it, with a final newline.
    ///
    /// - Parameter language: the language of names; keys and ids never change.
    public func document(in language: Language = .english) -> String {
        document("kazasu.license/1", .license, report.members(language))
    }
}

extension FileCardResult where Report == PassportReport {
    /// The document `kazasu.passport/1`, as `kazasu passport --json` prints it, with a final newline.
    ///
    /// - Parameters:
    ///   - signature: what the check of the signature found.
    ///   - chip: what the check of the chip found.
    ///   - language: the language of names; keys and ids never change.
    public func document(signature: CardSignature, chip: ChipCheck, in language: Language = .english) -> String {
        document(
            "kazasu.passport/1", .passport,
            report.members(language, pictures: .array([]), signature: signature.json, chip: chip.json))
    }
}

extension FileCardResult where Report == ResidenceReport {
    /// The document `kazasu.residence/1`, as `kazasu residence --json` prints it, with a final newline.
    ///
    /// - Parameters:
    ///   - signature: what the check of the signature found.
    ///   - language: the language of names; keys and ids never change.
    public func document(signature: CardSignature, in language: Language = .english) -> String {
        document(
            "kazasu.residence/1", .residence,
            report.members(language, pictures: .array([]), signature: signature.json))
    }
}

extension FileCardResult where Report == MyNumberReport {
    /// The document `kazasu.mynumber/1`, as `kazasu mynumber --json` prints it, with a final newline. Of a certificate, the
    /// command tells more, such as its holder.
    ///
    /// - Parameters:
    ///   - signature: what the check of the face or else of the four items found; `nil` if neither was read.
    ///   - chains: what the checks of the certificates found.
    ///   - language: the language of names; keys and ids never change.
    public func document(
        signature: CardSignature? = nil, chains: [MyNumberFile: CardSignature] = [:], in language: Language = .english
    ) -> String {
        var members = report.json(
            language,
            certificates: { file in
                guard let chain = chains[file] else { return JSONObject() }
                return JSONObject([
                    ("chain", ["state": .string(chain.state.rawValue), "by": .text(chain.authority)])
                ])
            })
        if report.face != nil { members["pictures"] = .array([]) }
        if let signature { members["signature"] = signature.json }
        members["faults"] = .array(report.warnings.map { $0.json(language) })
        return document("kazasu.mynumber/1", .myNumber, members)
    }
}

extension FileCardResult {
    /// A document about the card.
    private func document(_ schema: String, _ kind: CardKind, _ members: JSONObject) -> String {
        let card = DecodedCard(identity: dump.card, kind: kind, brand: nil)
        var document = JSONObject([("schema", .string(schema)), ("card", JSONValue { card.write(to: &$0) })])
        document.merge(members)
        return JSONValue.object(document).prettyText + "\n"
    }
}
