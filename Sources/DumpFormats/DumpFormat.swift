// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// One kind of file that dumps of cards are kept in: Kazasu's own, or that of another tool.
///
/// A format is one file of code and one line in ``DumpFormatRegistry/standard``.
package protocol DumpFormat: Sendable {
    /// The word of the command line for it, as in `--to flipper`; lower case, never changed.
    var id: String { get }
    /// Its name for people.
    var name: LocalizedText { get }
    /// Whether a file is of this format, by what stands in it; the name of the file says nothing.
    ///
    /// Looks at no more than the members of a JSON document, or at the first
    /// ``DumpSource/linesToRecognise`` lines of a text.
    func recognises(_ source: DumpSource) -> Bool
    /// The cards of a file in the file's order; at least one.
    ///
    /// What the file does not say of a system or a service is named in ``CardModel/SystemDump/assumed`` and
    /// ``CardModel/ServiceDump/assumed``.
    ///
    /// - Throws: ``CardModel/DocumentError`` with the line or the key of what is wrong.
    func read(_ source: DumpSource) throws(DocumentError) -> [CardDump]
}

/// A format that Kazasu writes as well as reads.
package protocol WritableDumpFormat: DumpFormat {
    /// A file with one card; ends with a line end.
    ///
    /// No block is lost: what the format cannot hold is an error. What else is lost is listed in `Docs/formats.md`.
    ///
    /// - Throws: ``DumpWritingError``.
    func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8]
}

/// Why a dump cannot be written in a format.
@nonexhaustive
package enum DumpWritingError: Error, Hashable, Sendable {
    /// The format holds FeliCa cards only, and this is none.
    case notFeliCa(Technology)
    /// The format needs the card's IDm, which the dump does not know.
    case noIDm
    /// The format needs the card's PMm, which the dump does not know.
    case noPMm
    /// The format keeps one system for each code, and the dump has two with this one.
    case systemTwice(SystemCode)
    /// The format keeps one service for each code, and a system of the dump has two with this one.
    case serviceTwice(SystemCode, ServiceCode)

    /// The reason for people; names no IDm.
    package var text: LocalizedText {
        switch self {
        case .notFeliCa:
            LocalizedText("the format holds FeliCa cards only", "この形式は FeliCa カードだけを保存できます")
        case .noIDm:
            LocalizedText("the format needs the IDm, which is not known", "この形式には IDm が必要ですが、IDm が分かりません")
        case .noPMm:
            LocalizedText("the format needs the PMm, which is not known", "この形式には PMm が必要ですが、PMm が分かりません")
        case .systemTwice(let system):
            LocalizedText(
                "the format holds one system with the code \(system), the card has two",
                "この形式ではシステム \(system) を一つしか保存できませんが、カードには二つあります")
        case .serviceTwice(let system, let service):
            LocalizedText(
                "the format holds one service \(service) in system \(system), the dump has two",
                "この形式ではシステム \(system) のサービス \(service) を一つしか保存できませんが、ダンプには二つあります")
        }
    }
}

/// The cards of a file.
package struct ImportedDumps: Hashable, Sendable {
    /// The word of the format that the file is of.
    package let format: String
    /// The cards in the file's order; at least one.
    package let dumps: [CardDump]
}
