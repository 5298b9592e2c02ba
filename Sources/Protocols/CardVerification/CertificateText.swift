// SPDX-License-Identifier: Apache-2.0

/// One value of a text that should hold certificates.
enum EncodedEntry: Hashable {
    /// The decoded bytes.
    case bytes([UInt8])
    /// It is not base64, or its end is missing.
    case unreadable
}

/// Certificates as text between BEGIN and END lines (RFC 7468), with whatever stands around them.
enum PEM {
    /// The labels of certificates and of CMS, as OpenSSL reads them.
    private static let labels: Set<String> = [
        "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE", "PKCS7", "CMS",
    ]

    /// The blocks with one of these labels; `nil` if there is no block of any kind.
    static func entries(in file: [UInt8]) -> [EncodedEntry]? {
        var found: [EncodedEntry] = []
        var letters: [UInt8]?
        var isText = true
        for line in TextLines(file) {
            if let label = label(line, "-----BEGIN ") {
                // A block that another one begins in has no end.
                if letters != nil { found.append(.unreadable) }
                letters = labels.contains(label) ? [] : nil
                isText = false
            } else if label(line, "-----END ") != nil {
                if let letters { found.append(Base64.decode(letters).map { .bytes($0) } ?? .unreadable) }
                letters = nil
            } else {
                letters?.append(contentsOf: line)
            }
        }
        if letters != nil { found.append(.unreadable) }
        return isText ? nil : found
    }

    private static func label(_ line: ArraySlice<UInt8>, _ start: String) -> String? {
        guard line.starts(with: start.utf8) else { return nil }
        let label = line.dropFirst(start.utf8.count).prefix { $0 != 0x2D }
        return String(decoding: label, as: UTF8.self)
    }
}

/// Entries of a directory as text (RFC 2849), as the ICAO's directory is downloaded.
enum LDIF {
    /// The values in base64; `nil` if the file has another form.
    ///
    /// What a value is, its bytes have to show: the names of attributes differ between editions.
    static func entries(in file: [UInt8]) -> [EncodedEntry]? {
        var found: [EncodedEntry] = []
        var current: [UInt8] = []
        var isFirst = true
        func finish() -> Bool {
            defer { current = [] }
            guard !current.isEmpty, current.first != 0x23 else { return true }
            guard let colon = current.firstIndex(of: 0x3A) else { return !isFirst }
            if isFirst {
                let name = String(decoding: current[..<colon], as: UTF8.self).lowercased()
                guard ["version", "dn"].contains(name) else { return false }
                isFirst = false
            }
            let rest = current[(colon + 1)...]
            if rest.first == 0x3A {
                found.append(Base64.decode(rest.dropFirst()).map { .bytes($0) } ?? .unreadable)
            }
            return true
        }
        for line in TextLines(file) {
            // A line that begins with a blank continues the one before it.
            if line.first == 0x20, !current.isEmpty {
                current += line.dropFirst()
                continue
            }
            guard finish() else { return nil }
            current = Array(line)
        }
        return finish() && !isFirst ? found : nil
    }
}

/// The lines of a text, without their ends and without a byte order mark.
struct TextLines: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ file: [UInt8]) {
        rest = file.starts(with: [0xEF, 0xBB, 0xBF]) ? file.dropFirst(3) : file[...]
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { $0 != 0x0A }
        rest = rest.dropFirst(line.count + 1)
        return line.last == 0x0D ? line.dropLast() : line
    }
}

/// Base64 of RFC 4648; blanks and line ends are ignored.
enum Base64 {
    /// The bytes; `nil` if there is another character, or something behind the end.
    static func decode(_ letters: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count, isAtEnd) = (UInt32(0), 0, false)
        for letter in letters {
            let value: UInt8
            switch letter {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case 0x3D:
                isAtEnd = true
                continue
            case 0x41...0x5A: value = letter - 0x41
            case 0x61...0x7A: value = letter - 0x61 + 26
            case 0x30...0x39: value = letter - 0x30 + 52
            case 0x2B: value = 62
            case 0x2F: value = 63
            default: return nil
            }
            guard !isAtEnd else { return nil }
            bits = bits << 6 & 0xFF_FFFF | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
