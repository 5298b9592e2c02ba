// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A format in which a dump can be written.
public struct DumpFileFormat: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word of `kazasu convert --to`, as in `flipper`; never changes.
    public let rawValue: String

    /// Returns the format with this word, or `nil` if none can be written.
    public init?(rawValue: String) {
        guard DumpFormatRegistry.standard.writable.contains(where: { $0.id == rawValue }) else { return nil }
        self.rawValue = rawValue
    }

    init(known word: String) { rawValue = word }

    /// The word.
    public var description: String { rawValue }

    /// Whether a file can say that a byte of a MIFARE Classic is unknown; if not, it has zeros there.
    package var marksUnknown: Bool { writer?.marksUnknown ?? true }

    /// Whether its files are texts, not bytes.
    package var isText: Bool { self != .mfd }

    fileprivate var writer: (any WritableDumpFormat)? {
        DumpFormatRegistry.standard.writable.first { $0.id == rawValue }
    }

    /// Every format that can be written.
    public static var all: [DumpFileFormat] {
        DumpFormatRegistry.standard.writable.map { DumpFileFormat(known: $0.id) }
    }
}

extension CardDump {
    /// Writes the dump as a file of this format.
    ///
    /// - Throws: ``DumpWritingError`` if the format cannot store the dump.
    public func encoded(as format: DumpFileFormat) throws(DumpWritingError) -> [UInt8] {
        // Only Kazasu's own document has a place for the applications and files of a DESFire.
        guard desfire == nil || format == .json else { throw .notSupported(card.technology) }
        return try (format.writer ?? KazasuJSONFormat()).write(self)
    }
}

/// Reads the cards in a dump file of any format: Kazasu's own, and those of other tools.
///
/// - Parameter formats: the formats to try; ``DumpFormatRegistry/standard`` needs no C library.
/// - Returns: at least one card.
/// - Throws: ``DocumentError`` with the place, when no format fits or the file is damaged.
public func readDumps(
    _ bytes: [UInt8], formats: DumpFormatRegistry = .standard
) throws(DocumentError) -> [CardDump] {
    do {
        return try formats.read(bytes).dumps
    } catch .unknownFormat {
        // Anything that looks like JSON is most likely one of Kazasu's own dumps with a mistake: report that.
        let first = bytes.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        guard first == nil || first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { throw .unknownFormat }
        return [try CardDump(parsing: bytes)]
    } catch {
        throw error
    }
}
