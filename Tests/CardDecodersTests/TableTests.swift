// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import TestSupport
import Testing

@Suite("Tables of the decoders")
struct TableTests {
    static let folder = "Sources/Cards/CardDecoders/Data"
    /// All but the characters, which `Scripts/character-tables.py` makes.
    static let files = TestFiles.names(in: folder).filter { $0 != "cp932.bin" }

    @Test("Every file is read, and every line of it is a row")
    func noFaults() {
        #expect(DecoderTables.faults.keys.sorted() == Self.files)
        for (file, faults) in DecoderTables.faults { #expect(faults.isEmpty, "\(file)") }
    }

    @Test("Every file says where its facts come from, and ends no line with a blank")
    func sources() throws {
        for file in Self.files {
            let text = String(decoding: try TestFiles.read("\(Self.folder)/\(file)"), as: UTF8.self)
            #expect(text.hasPrefix("#") && text.contains("Source") || text.contains("agree"), "\(file)")
            #expect(text.split(separator: "\n").allSatisfy { $0.last != " " && $0.last != "\t" }, "\(file)")
        }
    }
}
