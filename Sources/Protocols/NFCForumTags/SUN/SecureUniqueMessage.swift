// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCiphers
package import CardCrypto

/// The parts of a URL that an NTAG 424 DNA makes new each time it is read (SUN, also SDM): UID and counter, enciphered or
/// in plain text, perhaps file data, and a MAC.
///
/// The owner of a tag chooses the names and places of the parts, so that they are found by their form: the MAC is the last
/// value of sixteen hexadecimal digits, the PICC data the first one of 32 (AES) or 48 (LRP), UID and counter are of 14 and 6.
/// They may follow the MAC. The MAC is tried over nothing and from the beginning of each part before it on; the part that it
/// covers is all that file data is taken from.
///
/// Sources: NXP AN12196, AN12304; the public vectors of sdm-backend.
package struct SecureUniqueMessage {
    /// The URL in ASCII.
    private let text: [UInt8]
    /// The values of hexadecimal digits, in order.
    private let values: [Value]
    private let mac: Value
    private let identity: Identity
    /// The value before the MAC that may be file data.
    private let fileData: Value?

    private struct Value: Hashable {
        /// The offset of the first digit in the URL.
        let start: Int
        let bytes: [UInt8]

        /// The digits in the URL.
        var range: Range<Int> { start..<start + 2 * bytes.count }
    }

    /// How the tag says who it is.
    private enum Identity {
        /// PICC data, 16 bytes for AES, 24 for LRP.
        case enciphered(Value)
        /// UID, seven bytes, and counter, most significant byte first.
        case plain(uid: Value, counter: Value)

        var values: [Value] {
            switch self {
            case .enciphered(let data): [data]
            case .plain(let uid, let counter): [uid, counter]
            }
        }
    }

    /// Finds the parts.
    ///
    /// - Returns: `nil` if the URL has no MAC, neither PICC data nor UID and counter, or several values that may be file data.
    package init?(url: String) {
        let text = Array(url.utf8)
        guard text.count <= 4096 else { return nil }
        self.text = text
        var values: [Value] = []
        var start = 0
        while start < text.count {
            guard Hex.value(of: text[start]) != nil else {
                start += 1
                continue
            }
            var end = start
            while end < text.count, Hex.value(of: text[end]) != nil { end += 1 }
            // A word may begin with letters that are digits, too: only what stands between separators counts.
            let isAlone =
                (start == 0 || !Self.isWord(text[start - 1])) && (end == text.count || !Self.isWord(text[end]))
            if isAlone, let bytes = try? Hex.decode(String(decoding: text[start..<end], as: UTF8.self)) {
                // UID and counter may stand in one value.
                if end - start == 21 - 1 {
                    values.append(Value(start: start, bytes: Array(bytes.prefix(7))))
                    values.append(Value(start: start + 14, bytes: Array(bytes.dropFirst(7))))
                } else {
                    values.append(Value(start: start, bytes: bytes))
                }
            } else if isAlone == false, end - start == 14, end + 7 <= text.count, text[end] | 0x20 == 0x78 {
                // `UIDxCOUNTER`, as in the mirror of an NTAG21x.
                let digits = text[end + 1..<end + 7]
                if let uid = try? Hex.decode(String(decoding: text[start..<end], as: UTF8.self)),
                    let counter = try? Hex.decode(String(decoding: digits, as: UTF8.self))
                {
                    values.append(Value(start: start, bytes: uid))
                    values.append(Value(start: end + 1, bytes: counter))
                    end += 7
                }
            }
            start = end
        }
        self.values = values
        guard let mac = values.last(where: { $0.bytes.count == 8 }) else { return nil }
        self.mac = mac
        let others = values.filter { $0 != mac }
        if let uid = others.first(where: { $0.bytes.count == 7 }),
            let counter = others.first(where: { $0.bytes.count == 3 && $0.start > uid.start })
        {
            identity = .plain(uid: uid, counter: counter)
        } else if let data = others.first(where: { [16, 24].contains($0.bytes.count) }) {
            identity = .enciphered(data)
        } else {
            return nil
        }
        let parts = identity.values
        let candidates = others.filter {
            !$0.bytes.isEmpty && $0.bytes.count.isMultiple(of: 16) && $0.start < mac.start && !parts.contains($0)
        }
        // Which of two is the tag's own, the MAC would tell only if it covered both.
        guard candidates.count < 2 else { return nil }
        fileData = candidates.first
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// What the tag said, once its MAC was checked.
    package struct Contents: Hashable, Sendable {
        /// The UID, seven bytes.
        package let uid: [UInt8]
        /// How often the tag was read before; `nil` if it does not say so.
        package let counter: UInt32?
        /// The file data that was enciphered, from the covered part alone; `nil` if there is none.
        package let fileData: [UInt8]?
        /// Whether the tag uses LRP in place of AES.
        package let isLRP: Bool
        /// The part of the URL that the MAC covers, beside the UID and the counter; empty if it covers nothing else.
        package let covered: String
    }

    /// Checks the MAC.
    ///
    /// - Parameters:
    ///   - metaKey: the key for the PICC data (SDMMetaReadKey), sixteen bytes.
    ///   - fileKey: the key for MAC and file data (SDMFileReadKey), sixteen bytes.
    /// - Returns: what the tag said; `nil` if it was not made with these keys, or was changed.
    package func contents(metaKey: SecretBytes, fileKey: SecretBytes) throws(CryptoError) -> Contents? {
        switch identity {
        case .plain(let uid, let counter):
            let counter = Array(counter.bytes.reversed())
            if let contents = try check(uid.bytes, counter, fileKey, isLRP: false) { return contents }
            return try check(uid.bytes, counter, fileKey, isLRP: true)
        case .enciphered(let data):
            let isLRP = data.bytes.count == 24
            let plain =
                isLRP
                ? try LeakageResilientCipher(metaKey).decrypt(
                    Array(data.bytes[8...]), counter: Array(data.bytes[..<8]), key: 0)
                : try AESKey(metaKey).decrypt(data.bytes)
            // The tag byte: 80 UID, 40 counter, and the length of the UID.
            guard let tag = plain.first, tag & 0x80 != 0, tag & 0x0F == 7, plain.count >= 11 else { return nil }
            let counter = tag & 0x40 != 0 ? Array(plain[8..<11]) : nil
            return try check(Array(plain[1..<8]), counter, fileKey, isLRP: isLRP)
        }
    }

    /// Compares the MAC with those over each part of the URL that the tag may have been told to cover.
    private func check(
        _ uid: [UInt8], _ counter: [UInt8]?, _ key: SecretBytes, isLRP: Bool
    ) throws(CryptoError) -> Contents? {
        let session = try Session(key, uid: uid, counter: counter ?? [], isLRP: isLRP)
        for start in [mac.start] + Self.partStarts(text, values, before: mac.start) {
            let full = try session.mac(Array(text[start..<mac.start]))
            guard stride(from: 1, to: 16, by: 2).map({ full[$0] }).elementsEqual(mac.bytes) else { continue }
            var plain: [UInt8]?
            if let fileData, fileData.start >= start, let counter {
                plain = try session.decrypt(fileData.bytes, counter: counter)
            }
            return Contents(
                uid: uid, counter: counter.map { $0.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } },
                fileData: plain, isLRP: isLRP, covered: String(decoding: text[start..<mac.start], as: UTF8.self))
        }
        return nil
    }

    /// The parts of the URL that anybody can change, in order: what is neither covered nor UID, counter, PICC data or MAC.
    ///
    /// Names between such values, as in `&cmac=`, are left out.
    ///
    /// - Parameter prefix: how the URL has to begin; without a path it ends where the host ends.
    /// - Returns: `nil` if the URL begins otherwise.
    package func partsNotCovered(_ contents: Contents, prefix: String = "") -> [String]? {
        let prefix = Array(prefix.utf8)
        guard text.starts(with: prefix), prefix.isEmpty || endsHost(prefix) else { return nil }
        let own =
            ([mac] + identity.values).map(\.range) + [
                0..<prefix.count, mac.start - contents.covered.utf8.count..<mac.start,
            ]
        var parts: [Range<Int>] = []
        for place in text.indices where !own.contains(where: { $0.contains(place) }) {
            if let last = parts.last, last.upperBound == place {
                parts[parts.count - 1] = last.lowerBound..<place + 1
            } else {
                parts.append(place..<place + 1)
            }
        }
        return parts.filter { !isName($0) }.map { String(decoding: text[$0], as: UTF8.self) }
    }

    /// Whether a prefix pins the host: `https://example.com` does not begin `https://example.com.example.org`.
    private func endsHost(_ prefix: [UInt8]) -> Bool {
        let scheme = Array("://".utf8)
        guard let slashes = prefix.indices.first(where: { prefix[$0...].starts(with: scheme) }) else { return false }
        let ends: [UInt8] = [0x2F, 0x3F, 0x23]
        return prefix[(slashes + 3)...].contains { ends.contains($0) }
            || prefix.count == text.count || ends.contains(text[prefix.count])
    }

    /// Whether a part is only the name of the value behind it, `&name=`, or the sign between two values.
    private func isName(_ part: Range<Int>) -> Bool {
        guard part.lowerBound > 0, part.upperBound < text.count else { return false }
        // The `x` of a mirror, a part of a path, or a sign before what is covered.
        if part.count == 1, [0x78, 0x2F, 0x26].contains(text[part.lowerBound]) { return true }
        let name = text[part].drop { $0 == 0x26 }
        return text[part].count - name.count < 2 && name.last == 0x3D
            && name.dropLast().allSatisfy { Self.isWord($0) || $0 == 0x5F || $0 == 0x2D }
    }

    /// Where the MAC may begin: at each value, and at the name before it.
    private static func partStarts(_ text: [UInt8], _ values: [Value], before end: Int) -> [Int] {
        var starts = Set(values.map(\.start).filter { $0 < end })
        for place in text.indices where place < end && [0x3F, 0x26, 0x3D, 0x2F, 0x23, 0x3B].contains(text[place]) {
            starts.insert(place)
            if place + 1 < end { starts.insert(place + 1) }
        }
        starts.insert(0)
        // A URL with very many parts is not one of a tag; each costs a MAC.
        return starts.sorted().suffix(64)
    }

    /// The keys of one reading of the tag.
    private enum Session {
        case aes(mac: AESKey, cipher: AESKey)
        case lrp(LeakageResilientCipher)

        init(_ key: SecretBytes, uid: [UInt8], counter: [UInt8], isLRP: Bool) throws(CryptoError) {
            let context = uid + counter
            if isLRP {
                let vector = Self.padded([0x00, 0x01, 0x00, 0x80] + context, room: 14) + [0x1E, 0xE1]
                self = .lrp(
                    try LeakageResilientCipher(SecretBytes(try LeakageResilientCipher(key).mac(vector))))
                return
            }
            let master = try AESKey(key)
            let derive = { (label: [UInt8]) throws(CryptoError) in
                try AESKey(
                    SecretBytes(try master.cmac(Self.padded(label + [0x00, 0x01, 0x00, 0x80] + context, room: 16))))
            }
            self = .aes(mac: try derive([0x3C, 0xC3]), cipher: try derive([0xC3, 0x3C]))
        }

        private static func padded(_ bytes: [UInt8], room: Int) -> [UInt8] {
            bytes + [UInt8](repeating: 0, count: max(0, room - bytes.count))
        }

        func mac(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
            switch self {
            case .aes(let key, _): try key.cmac(message)
            case .lrp(let cipher): try cipher.mac(message)
            }
        }

        func decrypt(_ data: [UInt8], counter: [UInt8]) throws(CryptoError) -> [UInt8] {
            switch self {
            case .aes(_, let key): try key.decrypt(data, after: try key.encrypt(Self.padded(counter, room: 16)))
            case .lrp(let cipher): try cipher.decrypt(data, counter: counter + [0, 0, 0], key: 1)
            }
        }
    }
}
