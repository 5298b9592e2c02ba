// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One file format for dumps of cards: Kazasu's own, or that of another tool.
///
/// A format is one source file and one line in ``DumpFormatRegistry/standard``.
package protocol DumpFormat: Sendable {
    /// The identifier on the command line, as in `--to flipper`; lower case, never changes.
    var id: String { get }
    var name: LocalizedText { get }
    /// Returns whether a file is in this format, judging by its contents; the file name is ignored.
    ///
    /// It examines only the members of a JSON document, or the first ``DumpSource/linesToRecognize`` lines of a text.
    func recognizes(_ source: DumpSource) -> Bool
    /// Reads the cards of a file in file order; at least one.
    ///
    /// Values of a system or a service that the file does not give are listed in ``CardModel/SystemDump/assumed`` and
    /// ``CardModel/ServiceDump/assumed``.
    ///
    /// - Throws: ``CardModel/DocumentError`` with the line or the key of the error.
    func read(_ source: DumpSource) throws(DocumentError) -> [CardDump]
}

/// A format that Kazasu writes as well as reads.
package protocol WritableDumpFormat: DumpFormat {
    /// Whether a file can say that a byte of a MIFARE Classic is unknown; if not, it has zeros there.
    var marksUnknown: Bool { get }
    /// Writes a file with one card; a text ends with a newline.
    ///
    /// No block is lost: it is an error if the format cannot hold one. Other losses are listed in `Docs/formats.md`.
    ///
    /// - Throws: ``DumpWritingError``.
    func write(_ dump: CardDump) throws(DumpWritingError) -> [UInt8]
}

extension WritableDumpFormat {
    package var marksUnknown: Bool { true }
}

/// Why a dump cannot be written in a format.
@nonexhaustive
public enum DumpWritingError: Error, Hashable, Sendable {
    /// The format is for FeliCa cards only, and this is not one.
    case notFeliCa(Technology)
    /// The format is for MIFARE Classic only, and this is not one.
    case notClassic(Technology)
    /// The format has no place for such a card.
    case notSupported(Technology)
    /// The format cannot mark unknown bytes, and the access bits of these sectors of a MIFARE Classic are unknown.
    case accessNotKnown(sectors: [Int])
    /// The format needs the card's IDm, which is missing from the dump.
    case noIDm
    /// The format needs the card's PMm, which is missing from the dump.
    case noPMm
    /// The format has one system for each code, and the dump has two with this one.
    case systemTwice(SystemCode)
    /// The format has one service for each code, and a system of the dump has two with this one.
    case serviceTwice(SystemCode, ServiceCode)
}

extension DumpWritingError: SelfDescribing {
    /// What the format cannot hold; contains no number of the card.
    public var message: LocalizedText {
        switch self {
        case .notFeliCa: LocalizedText("the format can only store FeliCa cards", "FeliCa カード専用の形式です")
        case .notClassic:
            LocalizedText("the format can only store MIFARE Classic", "MIFARE Classic 専用の形式です")
        case .notSupported:
            LocalizedText("the format cannot store this kind of card", "この種類のカードは保存できない形式です")
        case .accessNotKnown(let sectors):
            LocalizedText(
                "the access bits of \(sectors.count == 1 ? "sector" : "sectors") \(Self.list(sectors)) are unknown, which the format cannot mark",
                "セクター \(Self.list(sectors)) のアクセスビットが不明で、この形式ではそれを表せません")
        case .noIDm: LocalizedText("the format needs the IDm, which is unknown", "この形式には IDm が必要ですが、不明です")
        case .noPMm: LocalizedText("the format needs the PMm, which is unknown", "この形式には PMm が必要ですが、不明です")
        case .systemTwice(let system):
            LocalizedText(
                "the format can store only one system \(system), but the card has two",
                "この形式で保存できるシステム \(system) は 1 つだけですが、カードには 2 つあります")
        case .serviceTwice(let system, let service):
            LocalizedText(
                "the format can store only one service \(service) in system \(system), but the dump has two",
                "この形式で保存できるシステム \(system) のサービス \(service) は 1 つだけですが、ダンプには 2 つあります")
        }
    }
}

extension DumpWritingError {
    private static func list(_ numbers: [Int]) -> String { numbers.map { "\($0)" }.joined(separator: ", ") }
}

/// The cards of a file.
package struct ImportedDumps: Hashable, Sendable {
    /// The identifier of the file's format.
    package let format: String
    /// The cards in file order; at least one.
    package let dumps: [CardDump]
}
