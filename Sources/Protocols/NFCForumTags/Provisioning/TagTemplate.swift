// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import NDEF

/// A URL with the parts that an NTAG 424 DNA makes new each time it is read (SDM), such as
/// `https://example.com/t?p={picc}&c={mac}`.
struct TagTemplate: Hashable, Sendable {
    /// A part, by its offset in the URL and its length there.
    struct Part: Hashable, Sendable {
        let offset: Int
        let length: Int
    }

    /// The URL as it is stored: zeros in place of what the tag makes.
    private(set) var text: [UInt8] = []
    private(set) var picc: Part?
    private(set) var uid: Part?
    private(set) var counter: Part?
    private(set) var file: Part?
    private(set) var mac: Part?
    /// Where the input of the MAC begins.
    private(set) var input: Int?

    /// Whether the tag makes anything new.
    var isDynamic: Bool { picc != nil || uid != nil || counter != nil || mac != nil }

    /// The form that an error names.
    private static let form = "{picc}, {uid}, {ctr}, {file:TEXT}, {mac}, {^}"

    /// Parses a template.
    ///
    /// - Parameter isLRP: whether the tag will be in LRP mode, in which PICC data are longer.
    init(_ json: JSONCursor, isLRP: Bool) throws(DocumentError) {
        let source = Array(try json.text().utf8)
        var rest = source[...]
        while let byte = rest.first {
            guard byte == UInt8(ascii: "{") else {
                guard (0x21...0x7E).contains(byte), byte != UInt8(ascii: "}") else {
                    throw json.malformed(.form, "ASCII")
                }
                text.append(byte)
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else { throw json.malformed(.form, Self.form) }
            try add(String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self), json, isLRP: isLRP)
            rest = rest[(end + 1)...]
        }
        try check(json)
    }

    private mutating func add(_ name: String, _ json: JSONCursor, isLRP: Bool) throws(DocumentError) {
        func add(_ length: Int, _ known: Part?) throws(DocumentError) -> Part {
            guard known == nil else { throw json.malformed(.form, Self.form) }
            let part = Part(offset: text.count, length: length)
            text += [UInt8](repeating: UInt8(ascii: "0"), count: length)
            return part
        }
        switch name {
        case "picc": picc = try add(isLRP ? 48 : 32, picc)
        case "uid": uid = try add(14, uid)
        case "ctr": counter = try add(6, counter)
        case "mac": mac = try add(16, mac)
        case "^":
            guard input == nil else { throw json.malformed(.form, Self.form) }
            input = text.count
        default:
            let value = Array(name.utf8.dropFirst(5))
            guard name.hasPrefix("file:"), !value.isEmpty, value.count.isMultiple(of: 16), file == nil else {
                throw json.malformed(.form, Self.form)
            }
            file = try add(2 * value.count, nil)
            text.replaceSubrange(text.count - 2 * value.count..<text.count - value.count, with: value)
        }
    }

    /// What a tag would refuse, or nobody could verify.
    private mutating func check(_ json: JSONCursor) throws(DocumentError) {
        let isPlain = uid != nil || counter != nil
        if picc != nil, isPlain { throw json.malformed(.form, "{picc}, or {uid} and {ctr}") }
        guard let mac else {
            if file != nil || input != nil { throw json.malformed(.form, "{mac}") }
            return
        }
        // The MAC is made with both, and nobody could verify it without.
        guard picc != nil || uid != nil && counter != nil else {
            throw json.malformed(.form, "{picc}, or {uid} and {ctr}")
        }
        let start = input ?? file?.offset ?? mac.offset
        guard start <= mac.offset, file.map({ start <= $0.offset && $0.offset < mac.offset }) ?? true else {
            throw json.malformed(.form, "{^}…{file:TEXT}…{mac}")
        }
        input = start
    }

    /// The NDEF message with the URL, and where the URL's first character would be in the message.
    ///
    /// The record has a code in place of the scheme, so that this may be negative for what the code stands for.
    func message(_ json: JSONCursor) throws(DocumentError) -> (bytes: [UInt8], start: Int) {
        do {
            let bytes = try NDEFMessage([
                NDEFRecord(.uri(NDEFURI(String(decoding: text, as: UTF8.self))))
            ]).encoded()
            let start = bytes.count - text.count
            // The record has to end with the part of the URL that is not abbreviated.
            let parts = [picc, uid, counter, file, mac].compactMap { $0?.offset } + [input].compactMap { $0 }
            if let first = parts.min() {
                guard start + first >= 0, bytes.suffix(text.count - first).elementsEqual(text[first...]) else {
                    throw json.malformed(.form, "https://HOST/…")
                }
            }
            return (bytes, start)
        } catch let error as DocumentError {
            throw error
        } catch {
            throw json.malformed(.form, "URL")
        }
    }
}
