// SPDX-License-Identifier: Apache-2.0

import FeliCa
import TestSupport
import Testing

@Suite("Files of the registry")
struct RegistryFileTests {
    @Test("Every line of every file is a row")
    func noFaults() {
        let files = TestFiles.names(in: "Sources/Protocols/FeliCa/Registry/Data")
        #expect(Registry.faults.keys.sorted() == files)
        for (file, faults) in Registry.faults { #expect(faults.isEmpty, "\(file)") }
    }

    @Test("Every file names its sources and has no trailing blanks")
    func sources() throws {
        for file in TestFiles.names(in: "Sources/Protocols/FeliCa/Registry/Data") {
            let text = String(
                decoding: try TestFiles.read("Sources/Protocols/FeliCa/Registry/Data/\(file)"), as: UTF8.self)
            #expect(text.hasPrefix("#") && text.contains("Source"), "\(file)")
            #expect(text.split(separator: "\n").allSatisfy { $0.last != " " && $0.last != "\t" }, "\(file)")
        }
    }
}
