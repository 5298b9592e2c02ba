// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The memory of a Type 2 Tag in a dump.
public struct Type2Dump: Hashable, Sendable {
    /// The pages that were read, by number from 0, four bytes each; 256 pages are one sector.
    public var pages: [UInt16: [UInt8]]
    /// The answer to GET_VERSION, eight bytes; `nil` if the tag does not support the command.
    public var version: [UInt8]?
    /// The answer to READ_SIG, 32 bytes; `nil` if the tag does not support the command.
    public var signature: [UInt8]?
    /// The counters that were read, by number; 24 bits each.
    public var counters: [UInt8: UInt32]
    /// The product name from its data sheet, if the reader identified it without version information.
    package var product: String?
    /// The first page that needs a password or a key.
    package var closedFrom: UInt16?
    /// The commands that the reader did not pass on, so that the tag could not be asked; such as `GET_VERSION`.
    package var notAsked: [String] = []
    /// Members of the document that are unknown to this version.
    package var extra: JSONObject

    /// Makes the dump of a tag's memory.
    package init(
        pages: [UInt16: [UInt8]], version: [UInt8]? = nil, signature: [UInt8]? = nil, counters: [UInt8: UInt32] = [:],
        extra: JSONObject = JSONObject()
    ) {
        self.pages = pages
        self.version = version
        self.signature = signature
        self.counters = counters
        self.extra = extra
    }

    /// Makes the dump of a tag's memory.
    ///
    /// - Parameters:
    ///   - pages: four bytes each, by number from 0.
    ///   - version: the answer to GET_VERSION, which names the product.
    ///   - signature: the answer to READ_SIG.
    public init(pages: [UInt16: [UInt8]], version: [UInt8]? = nil, signature: [UInt8]? = nil) {
        self.init(pages: pages, version: version, signature: signature, counters: [:])
    }
}

extension Type2Dump {
    init(json: JSONCursor) throws(DocumentError) {
        var pages: [UInt16: [UInt8]] = [:]
        for (key, value) in try json.required("pages").members() {
            guard (2...4).contains(key.utf8.count), let number = FileIdentifier(key) else {
                throw value.malformed(.hexName, "2–4")
            }
            guard pages.updateValue(try value.bytes(count: 4), forKey: number.rawValue) == nil else {
                throw value.malformed(.uniquePage)
            }
        }
        var counters: [UInt8: UInt32] = [:]
        for (key, value) in try json.optional("counters")?.members() ?? [] {
            guard let number = UInt8(key) else { throw value.malformed(.counterName) }
            counters[number] = UInt32(clamping: try value.integer(in: 0...0xFF_FFFF))
        }
        self.init(
            pages: pages, version: try json.optional("version")?.bytes(),
            signature: try json.optional("signature")?.bytes(), counters: counters,
            extra: try json.members(without: ["pages", "version", "signature", "counters"]))
        product = extra.take("product") { $0.fromText(\.self) }
        closedFrom = extra.take("closedFrom") { $0.fromText { UInt16($0, radix: 16) } }
        notAsked = extra.take("notAsked") { $0.fromTexts(\.self) } ?? []
    }

    var json: JSONValue {
        let sorted = pages.sorted { $0.key < $1.key }
        var object = JSONObject([
            (
                "pages",
                .object(
                    JSONObject(
                        sorted.map { (Type2Dump.name(of: $0.key), .string(Hex.encode($0.value))) }))
            )
        ])
        object["version"] = version.map { .string(Hex.encode($0)) }
        object["signature"] = signature.map { .string(Hex.encode($0)) }
        if !counters.isEmpty {
            object["counters"] = .object(
                JSONObject(counters.sorted { $0.key < $1.key }.map { ("\($0.key)", .int(Int($0.value))) }))
        }
        object["product"] = product.map { .string($0) }
        object["closedFrom"] = closedFrom.map { .string(Type2Dump.name(of: $0)) }
        object["notAsked"] = JSONValue.list(notAsked)
        object.merge(extra)
        return .object(object)
    }

    /// Returns a page's number for display: two upper-case hexadecimal digits, four from page 100 on.
    package static func name(of page: UInt16) -> String {
        Hex.encode(page, digits: page > 0xFF ? 4 : 2)
    }
}
