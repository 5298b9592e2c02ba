// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardCiphers
package import CardModel
internal import KazasuTaps

/// Where a broker is and how to log in.
package struct MQTTBroker: Sendable {
    /// The version of the protocol.
    package enum Version: String, Sendable, CaseIterable {
        case v5 = "5"
        case v311 = "3.1.1"
    }

    /// What TLS needs beside the address.
    package struct TLS: Hashable, Sendable {
        /// The file with the certificates of the authorities to trust; `nil` for those of the system.
        package var authorities: String?
        /// The file with this client's certificate.
        package var certificate: String?
        /// The file with this client's private key, without a passphrase.
        package var key: String?

        package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// The password of the login; prints as `Redacted`.
    package struct Password: Sendable, SecretValue {
        let bytes: [UInt8]

        /// Copies the secret.
        package init(_ secret: SecretBytes) {
            bytes = unsafe secret.withUnsafeBytes { unsafe Array($0) }
        }
    }

    package var host: String
    package var port: UInt16
    package var user: String?
    package var password: Password?
    /// `nil` for a connection in the clear.
    package var tls: TLS?
    package var version = Version.v5

    package init(
        host: String, port: UInt16, user: String? = nil, password: Password? = nil, tls: TLS? = nil,
        version: Version = .v5
    ) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.tls = tls
        self.version = version
    }

    /// Why an address is refused.
    package enum AddressError: Error, Hashable, Sendable {
        case scheme, host, port, path
        /// It contains a password, which every user of the machine could read.
        case password
    }

    /// Reads `mqtt[s]://[user@]host[:port]`; the port is 1883, or 8883 with TLS.
    package init(address: String) throws(AddressError) {
        let isSecure = address.hasPrefix("mqtts://")
        guard isSecure || address.hasPrefix("mqtt://") else { throw .scheme }
        var rest = address.dropFirst(isSecure ? 8 : 7)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        if let at = rest.lastIndex(of: "@") {
            let name = rest[..<at]
            if name.contains(":") { throw .password }
            user = name.isEmpty ? nil : String(name)
            rest = rest[rest.index(after: at)...]
        }
        guard !rest.contains(where: { "/?#".contains($0) }) else { throw .path }
        var number: Substring?
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            host = String(rest[rest.index(after: rest.startIndex)..<end])
            let tail = rest[rest.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw .port }
            number = tail.isEmpty ? nil : tail.dropFirst()
        } else if let colon = rest.firstIndex(of: ":") {
            host = String(rest[..<colon])
            number = rest[rest.index(after: colon)...]
        } else {
            host = String(rest)
        }
        guard !host.isEmpty, !host.utf8.contains(0) else { throw .host }
        guard let number else {
            port = isSecure ? 8883 : 1883
            tls = isSecure ? TLS() : nil
            return
        }
        guard let value = UInt16(number), value > 0 else { throw .port }
        port = value
        tls = isSecure ? TLS() : nil
    }
}

/// The topics of one site.
///
/// | Topic | Retained | QoS |
/// | --- | --- | --- |
/// | `PREFIX/SITE/status` | yes | 1 |
/// | `PREFIX/SITE/READER/state` | yes | 1 |
/// | `PREFIX/SITE/READER/event` | no | 1 |
/// | `PREFIX/SITE/READER/tag` | no | 1 |
/// | `PREFIX/SITE/READER/tap` | no | 1 |
/// | `PREFIX/SITE/health` | no | 0 |
/// | `PREFIX/SITE/ack` | no | 1 |
package struct MQTTTopics: Hashable, Sendable {
    /// What each topic begins with; may have several levels.
    package let prefix: String
    /// The site as in topics.
    package let site: String

    package init(prefix: String, site: String) {
        self.prefix = prefix
        self.site = Self.name(site)
    }

    /// The names below a site that are not readers.
    package static let reserved: Set<String> = ["status", "health", "ack"]

    /// A name as in topics, in client IDs and in Home Assistant's ids: everything outside `[A-Za-z0-9_-]` becomes `-`.
    ///
    /// A name with characters outside of ASCII, of which hyphens would be all that is left, keeps its other characters
    /// and ends with the first eight digits of the SHA-256 of its UTF-8: `入口` is `1a793027`, `2号機` is `2-697c1286`.
    package static func name(_ text: String) -> String {
        func isKept(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        if text.utf8.contains(where: { $0 >= 0x80 }) {
            let parts = text.utf8.split { !isKept($0) }.map { String(decoding: $0, as: UTF8.self) }
            return (parts + [Hex.encode(MessageDigest.sha256(Array(text.utf8)).prefix(4))]).joined(separator: "-")
        }
        let name = String(decoding: text.utf8.map { isKept($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
        return name.isEmpty ? "-" : name
    }

    /// A reader as in topics; a reserved name gets a hyphen.
    package static func reader(_ text: String) -> String {
        let name = name(text)
        return reserved.contains(name) ? name + "-" : name
    }

    /// Whether a prefix can be part of a topic: no wildcards, no empty levels, not the broker's own topics.
    package static func isPrefix(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200 && !text.hasPrefix("$")
            && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "+") }
    }

    /// The prefix of this site's topics.
    package var root: String { "\(prefix)/\(site)" }
    package var status: String { "\(root)/status" }
    package var health: String { "\(root)/health" }
    package var ack: String { "\(root)/ack" }
    package func state(_ reader: String) -> String { "\(root)/\(Self.reader(reader))/state" }
    package func event(_ reader: String) -> String { "\(root)/\(Self.reader(reader))/event" }
    package func tag(_ reader: String) -> String { "\(root)/\(Self.reader(reader))/tag" }
    package func answer(_ reader: String) -> String { "\(root)/\(Self.reader(reader))/answer" }
    package func tap(_ reader: String) -> String { "\(root)/\(Self.reader(reader))/tap" }
}

/// Confirms that a consumer has stored all events of a reader up to a number.
package struct Acknowledgement: Hashable, Sendable {
    /// The reader as in topics: ``MQTTTopics/reader(_:)``.
    package var reader: String
    /// The number of the last event; those before it count as well.
    package var upTo: Int
    /// The number of the first event that the consumer has after a gap, where it has one.
    package var before: Int?
    /// Whether the consumer sent the same before: it misses the following events, or has not received them yet.
    package var isRepeated = false

    package init(reader: String, upTo: Int, before: Int? = nil, isRepeated: Bool = false) {
        self.reader = reader
        self.upTo = upTo
        self.before = before
        self.isRepeated = isRepeated
    }

    /// Reads `{"reader": …, "upTo": …}`, which may have a member `before`.
    ///
    /// - Throws: ``DocumentError`` for anything else.
    package init(parsing payload: [UInt8]) throws(DocumentError) {
        let document = JSONCursor(try JSONValue(parsing: payload))
        reader = try document.required("reader").text()
        upTo = try document.required("upTo").integer(in: 0...Int.max)
        before = try document.optional("before")?.integer(in: 0...Int.max)
    }

    /// The payload of a message.
    package var json: JSONValue {
        guard let before else { return ["reader": .string(reader), "upTo": .int(upTo)] }
        return ["reader": .string(reader), "upTo": .int(upTo), "before": .int(before)]
    }
}
