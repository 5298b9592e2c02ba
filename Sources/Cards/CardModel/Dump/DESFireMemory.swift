// SPDX-License-Identifier: Apache-2.0

/// A MIFARE DESFire in a dump: applications, files, the contents of those that were read, and what the card withheld.
///
/// It contains no keys. ``json`` is the member `desfire` as it was read, with members that are unknown to this version.
package struct DESFireMemory: Hashable, Sendable {
    /// The name of the product.
    package let product: String
    /// The versions of hardware and software, seven bytes each.
    package let hardware: [UInt8]
    package let software: [UInt8]
    /// The free bytes; `nil` if the card did not say.
    package let freeMemory: Int?
    /// The word for the result of checking the maker's signature, and the name of the maker's key; `nil` if unknown.
    package let originality: String?
    package let originalityKey: String?
    /// The card itself, with its master key.
    package let card: Application
    /// The applications, in the order of the card.
    package let applications: [Application]
    /// What the card did not show, and no key opened.
    package let withheld: [Withheld]
    /// The whole member.
    package let json: JSONValue

    /// An application, or the card itself.
    package struct Application: Hashable, Sendable {
        /// Three bytes, most significant first; zeros for the card itself.
        package let id: UInt32
        /// The settings of its keys; `nil` if the card did not tell.
        package let settings: UInt8?
        /// `des`, `3k3des` or `aes`; `nil` if the card did not tell.
        package let keyType: String?
        /// The number of its keys; `nil` if the card did not tell.
        package let keyCount: Int?
        /// The versions of its keys, by number.
        package let keyVersions: [UInt8]
        /// The DF name of ISO 7816; `nil` without one.
        package let name: [UInt8]?
        /// Its files, in the order of the card.
        package let files: [File]
    }

    /// A file with its settings.
    package struct File: Hashable, Sendable {
        /// The kinds of files, in the order of the card's numbers.
        package enum Kind: String, Hashable, Sendable, CaseIterable {
            case standard, backup, value, linear, cyclic, transactionMAC
        }

        /// What it holds; `nil` if it was not read.
        package enum Contents: Hashable, Sendable {
            case data([UInt8])
            case value(Int32)
            /// The oldest first.
            case records([[UInt8]])
        }

        /// 0 to 31.
        package let number: UInt8
        package let kind: Kind
        /// 0 plain, 1 with a code, 3 enciphered.
        package let mode: UInt8
        /// Who may read, write, do both and change the settings: key 0 to 13, 14 everybody, 15 nobody.
        package let rights: [UInt8]
        /// The number of bytes, of a record in a record file; 0 for a value.
        package let size: Int
        /// The limits of a value.
        package let limits: ClosedRange<Int32>
        package let hasLimitedCredit: Bool
        /// How many records there can be and are; 0 for other files.
        package let maxRecords: Int
        package let recordCount: Int
        package let contents: Contents?
    }

    /// Something that the card did not show.
    package struct Withheld: Hashable, Sendable {
        package enum Part: String, Hashable, Sendable, CaseIterable {
            case settings, applications, files, fileSettings, contents
        }

        /// The application; 0 for the card itself.
        package let application: UInt32
        package let part: Part
        /// The number of the file; `nil` for other parts.
        package let file: UInt8?
    }

    /// Whether the card withheld a part of an application.
    package func isWithheld(_ part: Withheld.Part, of application: UInt32) -> Bool {
        withheld.contains { $0.application == application && $0.part == part }
    }
}

// MARK: Reading

extension DESFireMemory {
    /// Reads the member `desfire` of a dump.
    package init(json: JSONCursor) throws(DocumentError) {
        product = try json.required("product").text()
        let version = try json.required("version")
        hardware = try version.required("hardware").bytes(count: 7)
        software = try version.required("software").bytes(count: 7)
        freeMemory = try json.optional("freeMemory")?.integer(in: 0...0xFF_FFFF)
        let originality = try json.optional("originality")
        self.originality = try originality?.optional("state")?.text()
        originalityKey = try originality?.optional("key")?.text()
        let picc = try json.required("picc")
        card = Application(
            id: 0, settings: try picc.optional("settings")?.byte(), keyType: try picc.optional("keyType")?.keyType(),
            keyCount: 1,
            keyVersions: try picc.optional("keyVersion").map { version throws(DocumentError) in
                [UInt8(clamping: try version.integer(in: 0...255))]
            } ?? [], name: nil, files: [])
        let list = try json.required("applications")
        applications = try list.list { application throws(DocumentError) in try Application(json: application) }
        guard applications.count <= 256 else { throw list.malformed(.atMostApplications, "256") }
        guard Set(applications.map(\.id)).count == applications.count else { throw list.malformed(.uniqueEntry) }
        withheld = try json.required("withheld").list { part throws(DocumentError) in try Withheld(json: part) }
        self.json = json.value
    }
}

extension DESFireMemory.Application {
    fileprivate init(json: JSONCursor) throws(DocumentError) {
        id = try json.required("aid").applicationID()
        settings = try json.optional("settings")?.byte()
        keyType = try json.optional("keyType")?.keyType()
        keyCount = try json.optional("keys")?.integer(in: 0...15)
        keyVersions = try json.required("keyVersions").list { version throws(DocumentError) in
            UInt8(clamping: try version.integer(in: 0...255))
        }
        name = try json.optional("name")?.bytes()
        let list = try json.required("files")
        files = try list.list { file throws(DocumentError) in try DESFireMemory.File(json: file) }
        guard Set(files.map(\.number)).count == files.count else { throw list.malformed(.uniqueEntry) }
    }
}

extension DESFireMemory.File {
    private static let modes: [(name: String, mode: UInt8)] = [("plain", 0), ("mac", 1), ("full", 3)]

    fileprivate init(json: JSONCursor) throws(DocumentError) {
        number = try json.required("number").fileNumber()
        let type = try json.required("type")
        guard let kind = Kind(rawValue: try type.text()) else {
            throw type.malformed(.oneOf, values: Kind.allCases.map(\.rawValue))
        }
        self.kind = kind
        let word = try json.required("mode")
        let name = try word.text()
        guard let mode = Self.modes.first(where: { $0.name == name })?.mode else {
            throw word.malformed(.oneOf, values: Self.modes.map(\.name))
        }
        self.mode = mode
        let access = try json.required("access")
        var rights: [UInt8] = []
        for key in ["read", "write", "readWrite", "change"] { rights.append(try access.required(key).right()) }
        self.rights = rights
        let numbers = Int(Int32.min)...Int(Int32.max)
        switch kind {
        case .standard, .backup, .transactionMAC:
            let size = try json.required("size").integer(in: 0...0xFF_FFFF)
            (self.size, limits, hasLimitedCredit, maxRecords, recordCount) = (size, 0...0, false, 0, 0)
            contents = try json.optional("data").map { data throws(DocumentError) in .data(try data.bytes(count: size))
            }
        case .value:
            let (lower, upper) = (try json.required("lower"), try json.required("upper"))
            let least = Int32(clamping: try lower.integer(in: numbers))
            limits = least...Int32(clamping: try upper.integer(in: Int(least)...Int(Int32.max)))
            hasLimitedCredit = try json.optional("limitedCredit")?.bool() ?? false
            (size, maxRecords, recordCount) = (0, 0, 0)
            contents = try json.optional("value").map { value throws(DocumentError) in
                .value(Int32(clamping: try value.integer(in: numbers)))
            }
        case .linear, .cyclic:
            let size = try json.required("recordSize").integer(in: 1...0xFF_FFFF)
            let maximum = try json.required("maxRecords").integer(in: 0...0xFF_FFFF)
            let count = try json.required("records").integer(in: 0...maximum)
            (self.size, maxRecords, recordCount) = (size, maximum, count)
            (limits, hasLimitedCredit) = (0...0, false)
            contents = try json.optional("contents").map { list throws(DocumentError) in
                let records = try list.list { record throws(DocumentError) in try record.bytes(count: size) }
                guard records.count == count else { throw list.malformed(.recordCount, "\(count)") }
                return .records(records)
            }
        }
    }
}

extension DESFireMemory.Withheld {
    fileprivate init(json: JSONCursor) throws(DocumentError) {
        application = try json.required("aid").applicationID()
        let word = try json.required("part")
        guard let part = Part(rawValue: try word.text()) else {
            throw word.malformed(.oneOf, values: Part.allCases.map(\.rawValue))
        }
        self.part = part
        file = try json.optional("file")?.fileNumber()
    }
}

extension JSONCursor {
    fileprivate func byte() throws(DocumentError) -> UInt8 { try bytes(count: 1).first ?? 0 }

    fileprivate func applicationID() throws(DocumentError) -> UInt32 {
        try bytes(count: 3).reduce(0) { $0 << 8 | UInt32($1) }
    }

    fileprivate func fileNumber() throws(DocumentError) -> UInt8 { UInt8(clamping: try integer(in: 0...31)) }

    fileprivate func keyType() throws(DocumentError) -> String {
        let (types, word) = (["des", "3k3des", "aes"], try text())
        guard types.contains(word) else { throw malformed(.oneOf, values: types) }
        return word
    }

    /// The number of a key, `free` or `never`.
    fileprivate func right() throws(DocumentError) -> UInt8 {
        switch value {
        case .string("free"): 14
        case .string("never"): 15
        case .string: throw malformed(.oneOf, values: ["0–13", "free", "never"])
        default: UInt8(clamping: try integer(in: 0...13))
        }
    }
}
