// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The formats that are known, in the order in which they are tried.
package struct DumpFormatRegistry: Sendable {
    /// The formats, first tried first.
    package let formats: [any DumpFormat]

    /// A registry of these formats.
    package init(_ formats: [any DumpFormat]) {
        self.formats = formats
    }

    /// All formats but those that need an XML parser (see the module `DumpFormatsXML`).
    ///
    /// A file that names its format comes before one that is told by its form; plain hexadecimal lines, which name
    /// nothing, come last.
    package static let standard = DumpFormatRegistry([
        KazasuJSONFormat(),
        ProxmarkMemoryFormat(),
        ProxmarkFeliCaFormat(),
        FelicaToolFormat(),
        FelicaToolLogFormat(),
        FelicaRSFormat(),
        MetrodroidFormat(),
        FareBotFormat(),
        FlipperFormat(),
        MetroflipFormat(),
        ProxmarkListingFormat(),
        FelicalibFormat(),
        LibpafeFormat(),
        NfcpyFormat(),
        PCSCLogFormat(),
        KazasuHexFormat(),
        HexLinesFormat(),
    ])

    /// The format with this word, or `nil`.
    package func format(id: String) -> (any DumpFormat)? {
        formats.first { $0.id == id }
    }

    /// The formats that can be written.
    package var writable: [any WritableDumpFormat] {
        formats.compactMap { $0 as? any WritableDumpFormat }
    }

    /// Which format a file is of, or `nil` when it is of none.
    ///
    /// - Throws: ``CardModel/DocumentError`` when the file is too long, or begins as JSON and is none.
    package func recognise(_ bytes: [UInt8]) throws(DocumentError) -> (any DumpFormat)? {
        recognise(try DumpSource(bytes))
    }

    /// Which format a file is of, or `nil` when it is of none.
    package func recognise(_ source: DumpSource) -> (any DumpFormat)? {
        formats.first { $0.recognises(source) }
    }

    /// The cards of a file of any known format.
    ///
    /// - Parameter id: the format that the file must be of; `nil` to find it out.
    /// - Throws: ``CardModel/DocumentError`` with the line or the key of what is wrong;
    ///   ``CardModel/DocumentError/unknownFormat`` for a file of no known format.
    package func read(_ bytes: [UInt8], as id: String? = nil) throws(DocumentError) -> ImportedDumps {
        let source = try DumpSource(bytes)
        let format = id.map { self.format(id: $0) } ?? recognise(source)
        guard let format else {
            throw .unknownFormat
        }
        return ImportedDumps(format: format.id, dumps: try format.read(source))
    }
}
