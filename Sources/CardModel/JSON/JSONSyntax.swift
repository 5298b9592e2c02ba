// SPDX-License-Identifier: Apache-2.0

/// Finds where a text stops being JSON (RFC 8259), for the parser in use does not say.
struct JSONSyntax {
    private let bytes: [UInt8]
    private var index = 0
    /// The brackets that are open, each as its closing one.
    private var open: [UInt8] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Where the first fault is, as in `line 3, byte 17`, both counted from 1; `nil` when there is none.
    static func fault(in bytes: [UInt8]) -> String? {
        var scanner = JSONSyntax(bytes)
        guard let offset = scanner.scan() else { return nil }
        let before = bytes.prefix(offset)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let place = "line \(line), byte \(offset - start + 1)"
        return offset >= bytes.count ? "\(place): the text ends too early" : place
    }

    /// The offset of the first byte that no JSON text has there.
    private mutating func scan() -> Int? {
        skipBlanks()
        while true {
            guard value() else { return index }
            guard let isInside = ends() else { return index }
            if !isInside { return index == bytes.count ? nil : index }
        }
    }

    /// Passes a value, or the beginning of an object or array up to its first value.
    private mutating func value() -> Bool {
        while true {
            if take("{") {
                skipBlanks()
                if take("}") { return true }
                open.append(UInt8(ascii: "}"))
                guard key() else { return false }
            } else if take("[") {
                skipBlanks()
                if take("]") { return true }
                open.append(UInt8(ascii: "]"))
            } else {
                return string() || number() || ["true", "false", "null"].contains { word($0) }
            }
        }
    }

    /// Passes what follows a value up to the next one.
    ///
    /// - Returns: whether another value comes; `nil` at a fault.
    private mutating func ends() -> Bool? {
        while true {
            skipBlanks()
            guard let closing = open.last else { return false }
            if take(",") {
                skipBlanks()
                return closing == UInt8(ascii: "]") || key() ? true : nil
            }
            guard next == closing else { return nil }
            index += 1
            open.removeLast()
        }
    }

    private mutating func key() -> Bool {
        guard string() else { return false }
        skipBlanks()
        guard take(":") else { return false }
        skipBlanks()
        return true
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let byte = next, byte >= 0x20 {
            index += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = next, escaped >= 0x20 else { return false }
                index += 1
            }
        }
        return false
    }

    private mutating func number() -> Bool {
        guard let first = next, first == UInt8(ascii: "-") || isDigit(first) else { return false }
        while let byte = next, isDigit(byte) || "+-.eE".utf8.contains(byte) { index += 1 }
        return true
    }

    private mutating func word(_ word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
