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
        document(report.members(language))
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
            }, redact: { $0 })
        if report.face != nil { members["pictures"] = .array([]) }
        if let signature { members["signature"] = signature.json }
        members["faults"] = report.faults(language)
        return document(members)
    }
}

extension FileCardResult where Report: IdentityDocument {
    /// A document about the card.
    private func document(_ members: JSONObject) -> String {
        let card = DecodedCard(identity: dump.card, kind: Report.kind, brand: nil)
        var document = JSONObject([("schema", .string(Report.schema)), ("card", JSONValue { card.write(to: &$0) })])
        document.merge(members)
        return JSONValue.object(document).prettyText + "\n"
    }
}
