// SPDX-License-Identifier: Apache-2.0

import ByteCodec
public import CardModel
public import MIFAREClassic

extension ClassicKeys {
    /// The longest file of keys, in bytes.
    package static let longestFile = 1 << 20

    /// Reads keys from a file of any common form: lines of `SECTOR A|B KEY` or of twelve digits, a dump with keys in its
    /// trailers, or the binary file of keys of the Proxmark3 client (all keys A, then all keys B).
    ///
    /// - Throws: `DocumentError`; no text of the file is in it.
    public init(reading file: [UInt8]) throws(DocumentError) {
        self.init()
        guard file.count <= Self.longestFile else { throw .tooLong(bytes: file.count, limit: Self.longestFile) }
        let isText = Self.isText(file)
        if !isText, let kind = ClassicKind.allCases.first(where: { $0.sectorCount * 12 == file.count }) {
            for sector in 0..<kind.sectorCount {
                for (type, start) in [(ClassicKeyType.a, 0), (.b, kind.sectorCount * 6)] {
                    if let key = ClassicKey(Array(file[(start + sector * 6)...].prefix(6))) {
                        add(key, sector: sector, type: type)
                    }
                }
            }
            return
        }
        let source = try DumpSource(file)
        if let format = DumpFormatRegistry.standard.recognize(source) {
            let memories = try format.read(source).compactMap(\.classic)
            guard !memories.isEmpty else { throw .notImported(kind: format.id) }
            for memory in memories { take(memory) }
        } else {
            guard isText else { throw .unknownFormat }
            for line in TextLines(file) { try take(line) }
        }
    }

    private static func isText(_ file: [UInt8]) -> Bool {
        !file.isEmpty && file.allSatisfy { $0 >= 0x20 && $0 != 0x7F || TextLine.isBlank($0) }
            && String(validating: file, as: UTF8.self) != nil
    }

    private mutating func take(_ memory: ClassicDump) {
        for sector in 0..<memory.kind.sectorCount {
            for type in ClassicKeyType.allCases {
                if let key = memory.key(type, of: sector) { add(key, sector: sector, type: type) }
            }
        }
    }

    private mutating func take(_ line: TextLine) throws(DocumentError) {
        let words = line.text.prefix { $0 != "#" }.words
        func key(_ digits: Substring) throws(DocumentError) -> ClassicKey {
            guard digits.utf8.count == 12, let key = (try? Hex.decode(digits)).flatMap(ClassicKey.init) else {
                throw line.malformed(.form, "SECTOR A|B KEY")
            }
            return key
        }
        switch words.count {
        case 0: return
        case 1: add(try key(words[0]))
        case 3:
            let sector = Int(words[0])
            guard let type = ClassicKeyType(rawValue: words[1].uppercased()),
                words[0] == "*" || (0..<ClassicKind.k4.sectorCount).contains(sector ?? -1)
            else { throw line.malformed(.form, "SECTOR A|B KEY") }
            add(try key(words[2]), sector: sector, type: type)
        default: throw line.malformed(.form, "SECTOR A|B KEY")
        }
    }
}
