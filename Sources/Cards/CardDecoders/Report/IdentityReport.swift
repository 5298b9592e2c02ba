// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The report of an identity document: what its files say, which of them stayed closed, and what is wrong with them.
package protocol IdentityDocument: Hashable, Sendable {
    associatedtype File: IdentityFile

    /// The kind of card.
    static var kind: CardKind { get }
    /// The items of its document, each once.
    static var items: [IdentityItem<Self>] { get }
    /// Whether elements of `faults` have the tag of an item.
    static var faultsHaveTags: Bool { get }
    /// Decodes a dump; `nil` if it is of another card.
    static func decode(_ dump: CardDump) -> Self?

    /// The name of a file in a dump; `nil` if it is not one of this document.
    static func name(of file: FileIdentifier, in application: AID?, of dump: CardDump) -> LocalizedText?

    /// The files that need a PIN or number that was not presented or was refused.
    var withheldFiles: [File] { get set }
    var warnings: [IdentityWarning<File>] { get set }

    /// The members of the document that come from the card, except `faults`.
    ///
    /// - Parameter redact: returns the replacement for a personal value.
    func json(_ language: Language, redact: (String) -> String) -> JSONObject

    /// The bytes of a picture by its id in documents; the holder's face is `photo`.
    func picture(_ id: String) -> [UInt8]?
}

extension IdentityDocument {
    package static var faultsHaveTags: Bool { false }

    /// The schema of the document.
    package static var schema: String { "kazasu.\(kind.rawValue)/1" }

    package func json(_ language: Language) -> JSONObject { json(language) { $0 } }

    /// The member `faults`.
    package func faults(_ language: Language) -> JSONValue {
        .array(warnings.map { $0.json(language, hasTag: Self.faultsHaveTags) })
    }

    /// Takes a file of a dump: its contents, that it is closed, or why it was not read.
    ///
    /// - Parameter mayBeRefused: whether a refusal is expected.
    mutating func read(
        _ file: File, _ found: FileDump?, mayBeRefused: Bool = false, _ add: (inout Self, [UInt8]) -> Void
    ) {
        switch found?.state {
        case .read?: add(&self, found?.data ?? [])
        case .keyRequired?: withheldFiles.append(file)
        case .refused(let status)? where !mayBeRefused:
            warnings.append(IdentityWarning(file: file, reason: .refused(status)))
        case .lost?: warnings.append(IdentityWarning(file: file, reason: .lost))
        case .refused?, .skipped?, nil: break
        }
    }
}

/// The report of an identity document, whichever it is.
package struct IdentityReport: Hashable, Sendable {
    /// Every kind of identity document, in the order in which they are shown; a new one is a line here.
    package static let kinds: [any IdentityDocument.Type] = [
        LicenseReport.self, MyNumberReport.self, ResidenceReport.self, PassportReport.self,
    ]

    package let document: any IdentityDocument

    /// The identity documents of a dump: a My Number card can be a license as well.
    package static func all(in dump: CardDump) -> [IdentityReport] {
        kinds.compactMap { kind in decode(kind, dump) }
    }

    private static func decode<Document: IdentityDocument>(
        _: Document.Type, _ dump: CardDump
    ) -> IdentityReport? {
        Document.decode(dump).map { IdentityReport(document: $0) }
    }

    /// The kind of card.
    package var kind: CardKind { type(of: document).kind }

    package static func == (first: IdentityReport, second: IdentityReport) -> Bool {
        first.document.isEqual(second.document)
    }

    package func hash(into hasher: inout Hasher) { document.hash(into: &hasher) }
}

extension IdentityDocument {
    fileprivate func isEqual(_ other: any IdentityDocument) -> Bool { other as? Self == self }
}

extension CardDump {
    /// The name of a file of an identity document in this dump; `nil` if it is unknown.
    package func name(of file: FileIdentifier, in application: AID?) -> LocalizedText? {
        IdentityReport.kinds.lazy.compactMap { $0.name(of: file, in: application, of: self) }.first
    }
}
