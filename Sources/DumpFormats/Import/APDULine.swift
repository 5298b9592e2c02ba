// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// The bytes that a line of a log ends with.
enum APDULine {
    /// The bytes after the last word that is no hexadecimal; empty when there are none.
    ///
    /// Bytes may stand together or apart, with blanks, colons or hyphens.
    static func bytes(_ line: TextLine) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in line.text.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == ":" || $0 == "-" }) {
            if let more = try? Hex.decode(word.trimmingSuffix(",")), !more.isEmpty {
                bytes += more
            } else {
                bytes = []
            }
        }
        return bytes
    }
}

extension StringProtocol {
    /// The text without one `suffix` at its end.
    func trimmingSuffix(_ suffix: Character) -> SubSequence {
        last == suffix ? dropLast() : self[...]
    }
}
