// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// The known formats of dump files, in the order in which they are tried.
public struct DumpFormatRegistry: Sendable {
    /// The formats, in the order in which they are tried.
    package let formats: [any DumpFormat]

    /// Creates a registry of these formats, tried in order.
    package init(_ formats: [any DumpFormat]) {
        self.formats = formats
    }

    /// All formats except those that need an XML parser (see the module `DumpFormatsXML`).
    ///
    /// A file that names its format is tried before one recognized by its form; plain hexadecimal lines, which name
    /// nothing, come last.
    public static let standard = DumpFormatRegistry([
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
        FelicalibSampleFormat(),
        LibpafeFormat(),
        NfcpyFormat(),
        PCSCLogFormat(),
        KazasuHexFormat(),
        MCTFormat(),
        ClassicBinaryFormat(),
        EMLFormat(),
        HexLinesFormat(),
    ])

    /// Returns the format with this identifier, or `nil`.
    package func format(id: String) -> (any DumpFormat)? {
        formats.first { $0.id == id }
    }

    /// The formats that can be written.
    package var writable: [any WritableDumpFormat] {
        formats.compactMap { $0 as? any WritableDumpFormat }
    }

    /// Returns the format of a file, or `nil` when it is in none.
    ///
    /// - Throws: ``CardModel/DocumentError`` when the file is too long, or begins like JSON but is not.
    package func recognize(_ bytes: [UInt8]) throws(DocumentError) -> (any DumpFormat)? {
        recognize(try DumpSource(bytes))
    }

    /// Returns the format of a file, or `nil` when it is in none.
    package func recognize(_ source: DumpSource) -> (any DumpFormat)? {
        formats.first { $0.recognizes(source) }
    }

    /// Reads the cards of a file in any known format.
    ///
    /// - Parameter id: the required format of the file; `nil` to detect it.
    /// - Throws: ``CardModel/DocumentError`` with the line or the key of the error;
    ///   ``CardModel/DocumentError/unknownFormat`` for a file in no known format.
    package func read(_ bytes: [UInt8], as id: String? = nil) throws(DocumentError) -> ImportedDumps {
        let source = try DumpSource(bytes)
        let format = id.map { self.format(id: $0) } ?? recognize(source)
        guard let format else {
            throw .unknownFormat
        }
        return ImportedDumps(format: format.id, dumps: try format.read(source))
    }
}
