// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The report of an identity document, whichever it is.
///
/// A new one is a case here; the compiler then asks for its place in `decode` and for what `--redact` hides of it.
package enum IdentityReport: Hashable, Sendable {
    case license(LicenseReport)
    case myNumber(MyNumberReport)
    case residence(ResidenceReport)
    case passport(PassportReport)

    /// The identity documents of a dump: a My Number card can be a license as well.
    package static func all(in dump: CardDump) -> [IdentityReport] {
        [
            LicenseDecoder.decode(dump).map(IdentityReport.license),
            MyNumberDecoder.decode(dump).map(IdentityReport.myNumber),
            ResidenceDecoder.decode(dump).map(IdentityReport.residence),
            PassportDecoder.decode(dump).map(IdentityReport.passport),
        ].compactMap(\.self)
    }

    /// The kind of card.
    package var kind: CardKind {
        switch self {
        case .license: .license
        case .myNumber: .myNumber
        case .residence: .residence
        case .passport: .passport
        }
    }

    /// The members that come from the card.
    ///
    /// - Parameter redact: returns the replacement for a personal value.
    package func json(_ language: Language, redact: (String) -> String = { $0 }) -> JSONObject {
        switch self {
        case .license(let report): report.json(language, redact: redact)
        case .myNumber(let report): report.json(language, redact: redact)
        case .residence(let report): report.json(language, redact: redact)
        case .passport(let report): report.json(language, redact: redact)
        }
    }

    /// The holder's face; `nil` if it was not read.
    package var photo: [UInt8]? {
        switch self {
        case .license(let report): report.photo
        case .myNumber(let report): report.face?.pictures[.photo]
        case .residence(let report): report.pictures[.photo]
        case .passport(let report): report.photo
        }
    }
}
