// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A file that anybody may read; the facts are rows of `Data/open-files.tsv`.
public struct OpenFile: Hashable, Sendable {
    /// The application; `nil` for the master file.
    public let application: AID?
    /// The file; `nil` where another file names it.
    public let file: FileIdentifier?
    /// How far to read.
    public let length: Length
    /// What it is.
    public let name: LocalizedText

    /// How far to read a file.
    public enum Length: Hashable, Sendable {
        /// So many bytes, or to its end.
        case bytes(Int)
        /// As far as the BER-TLV object at its start says.
        case dataObject
        /// As far as the two bytes at its start say.
        case counted
        /// The NDEF files that the Capability Container names.
        case ndef
    }

    init(_ row: FactRow) throws(TableFault) {
        if let text = try row.text("application") {
            guard let aid = AID(hexadecimal: text) else { throw row.fault("application", .notANumber) }
            application = aid
        } else {
            application = nil
        }
        if try row.text("file") == nil { file = nil } else { file = FileIdentifier(rawValue: try row.hex("file")) }
        switch try row.required("length") {
        case "object": length = .dataObject
        case "counted": length = .counted
        case "ndef": length = .ndef
        default: length = .bytes(try row.decimal("length") ?? 0)
        }
        guard file != nil || length == .ndef else { throw row.fault("file", .empty) }
        guard let name = try row.name() else { throw row.fault("english", .empty) }
        self.name = name
    }

    /// Every file of the table, in the order in which they are read.
    public static var all: [OpenFile] { table.rows }

    /// What is wrong in the table; a release has no faults.
    public static var faults: [TableFault] { table.faults }

    private static let table = FactTable(
        PackageResources.open_files_tsv, columns: ["application", "file", "length", "english", "japanese"],
        key: ["application", "file"], row: OpenFile.init(_:))
}
