// SPDX-License-Identifier: Apache-2.0

/// Texts in commands that hints show, so that they can be pasted into a shell.
enum ShellWord {
    /// A file name or another text as one word of a POSIX shell; plain ones stay as they are.
    ///
    /// A name that begins with a hyphen gets `./` before it, so that no program takes it for an option.
    static func quoted(_ text: String) -> String {
        let text = text.hasPrefix("-") && text != "-" ? "./" + text : text
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "@%+=:,./-_".utf8.contains(byte)
            }
        }
        return isPlain && !text.isEmpty ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
