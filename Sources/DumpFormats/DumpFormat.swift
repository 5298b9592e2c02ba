// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One kind of file that dumps of cards are kept in: Kazasu's own, or that of another tool.
///
/// A format is one file of code and one line in ``DumpFormatRegistry/standard``.
public protocol DumpFormat: Sendable {
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
    /// What the file does not say of a system is named in the member `assumed` of the system's
    /// ``CardModel/SystemDump/extra`` (`idm`, `pmm`, `systemCode`), what it does not say of a service in that
    /// of the service (`code`, `blocks`).
    ///
    /// - Throws: ``CardModel/DocumentError`` with the line or the key of what is wrong.
    func read(_ source: DumpSource) throws(DocumentError) -> [CardDump]
}
