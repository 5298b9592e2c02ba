// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import CardModel

/// A Type 2 Tag product; the facts are in `Data/type2-products.tsv`.
package struct Type2Product: Hashable, Sendable {
    /// The maker's product name.
    package let name: String
    /// Bytes 1 to 6 of its answer to GET_VERSION; empty when it does not support the command.
    package let version: [UInt8]
    /// The number of pages; `nil` when it is not in the table.
    package let pageCount: UInt16?
    /// The user data pages; `nil` when they are not in the table.
    package let userPages: ClosedRange<UInt16>?
    /// The page with the dynamic lock bytes; `nil` when it has none.
    package let dynamicLockPage: UInt16?
    /// The mapping of dynamic lock bits to pages.
    package let dynamicLocks: DynamicLocks?
    /// The first page of the configuration (CFG0); `nil` when it has none.
    package let configurationPage: UInt16?
    /// The numbers of its counters.
    package let counters: [UInt8]
    /// Whether it supports READ_SIG.
    package let hasSignature: Bool
    /// Whether its pages are protected by a key of AES instead of a password (Ultralight AES).
    package let hasAESKey: Bool

    /// The mapping of dynamic lock bits to pages, from page 16 on.
    package enum DynamicLocks: Hashable, Sendable {
        /// Each bit of the first two bytes locks this many pages.
        case pagesPerBit(UInt16)
        /// As in Ultralight C and NTAG203: four pages per bit, with block-locking bits between them.
        case ultralightC
    }

    /// The pages with key or password, which are never written directly; `nil` when the product has none.
    ///
    /// These are the pages behind the configuration (CFG0 and CFG1, AUTH0 and AUTH1).
    package var secretPages: ClosedRange<UInt16>? {
        guard let configurationPage else { return nil }
        if hasAESKey { return Type2Product.aesKeyPages }
        let first = configurationPage &+ 2
        return first...first &+ (dynamicLocks == .ultralightC ? 3 : 1)
    }

    /// The pages with the keys of an Ultralight AES: pages before them are read (Proxmark3), and there are 60.
    private static let aesKeyPages: ClosedRange<UInt16> = 0x30...0x3B

    /// Whether its pages are protected by a key (Ultralight C and AES).
    package var takesKey: Bool { dynamicLocks == .ultralightC || hasAESKey }

    /// Whether it has a password of four bytes (PWD_AUTH).
    package var hasPassword: Bool { configurationPage != nil && dynamicLocks != .ultralightC && !hasAESKey }

    /// The number of readable pages; `nil` when it is not in the table.
    ///
    /// An Ultralight C and an Ultralight AES never return a key, others return zeros.
    package var readablePageCount: UInt16? {
        dynamicLocks == .ultralightC || hasAESKey ? secretPages?.lowerBound ?? pageCount : pageCount
    }

    init(_ row: FactRow) throws(FactTableError) {
        name = try row.required("product")
        version = try row.hexList("version")
        pageCount = try Type2Product.page(row, "pages")
        let first = try Type2Product.page(row, "first")
        let last = try Type2Product.page(row, "last")
        if let first, let last, first <= last { userPages = first...last } else { userPages = nil }
        dynamicLockPage = try Type2Product.page(row, "dynamicLock")
        switch try row.text("locks") {
        case nil: dynamicLocks = nil
        case "C": dynamicLocks = .ultralightC
        default: dynamicLocks = .pagesPerBit(try row.hex("locks"))
        }
        configurationPage = try Type2Product.page(row, "configuration")
        counters = try row.hexList("counters")
        hasSignature = try row.text("signature") == "yes"
        hasAESKey = try row.text("key") == "AES"
    }

    private static func page(_ row: FactRow, _ column: String) throws(FactTableError) -> UInt16? {
        try row.text(column) == nil ? nil : try row.hex(column)
    }

    package static var all: [Type2Product] { table.rows }

    /// The errors in the table; a release has none.
    package static var faults: [FactTableError] { table.faults + NDEFURIPrefix.table.faults }

    private static let table = FactTable(
        PackageResources.type2_products_tsv,
        columns: [
            "product", "version", "pages", "first", "last", "dynamicLock", "locks", "configuration", "counters",
            "signature", "key",
        ], key: ["product"], row: Type2Product.init(_:))

    /// Returns the product with this eight-byte answer to GET_VERSION; `nil` when it is not in the table.
    package static func of(version: [UInt8]) -> Type2Product? {
        guard version.count == 8 else { return nil }
        return all.first { !$0.version.isEmpty && version[1...6].elementsEqual($0.version) }
    }

    package static func named(_ name: String) -> Type2Product? {
        all.first { $0.name == name }
    }

    /// MIFARE Ultralight, which supports neither GET_VERSION nor authentication.
    package static var ultralight: Type2Product? { named("Ultralight") }
    /// MIFARE Ultralight C, which supports AUTHENTICATE.
    package static var ultralightC: Type2Product? { named("Ultralight C") }
    /// NTAG203, which refuses GET_VERSION where Ultralight does not answer.
    package static var ntag203: Type2Product? { named("NTAG203") }
}

/// The Capability Container of a Type 2 Tag, page 3.
///
/// `E1`, version (two nibbles), size of the data area in units of eight bytes, access (two nibbles: read, write; 0
/// granted, F none). Source: NFC Forum Type 2 Tag 1.0, §6.1.
package struct Type2Capability: Hashable, Sendable {
    /// The mapping version; 1.0 and 1.1 are known.
    package let version: (major: UInt8, minor: UInt8)
    /// The size in bytes of the data area, which begins with page 4.
    package let dataSize: Int
    /// The condition for reading: 0 always, F never; other values are proprietary.
    package let readAccess: UInt8
    /// The condition for writing: 0 always, F never; other values are proprietary.
    package let writeAccess: UInt8

    /// Parses the four bytes of page 3; `nil` when they do not begin with E1.
    package init?(_ page: [UInt8]) {
        guard page.count == 4, page[0] == 0xE1 else { return nil }
        version = (page[1] >> 4, page[1] & 0x0F)
        dataSize = Int(page[2]) * 8
        readAccess = page[3] >> 4
        writeAccess = page[3] & 0x0F
    }

    /// Whether this mapping is supported: any version 1.
    package var isSupported: Bool { version.major == 1 }

    /// The proprietary value that grants access after authentication.
    package static let accessWithKey: UInt8 = 0x8

    /// The address of the first byte of the data area.
    package static let dataStart = 16

    /// The address range of the data area.
    package var dataArea: Range<Int> { Type2Capability.dataStart..<Type2Capability.dataStart + dataSize }

    /// Compares version, size and access.
    package static func == (left: Type2Capability, right: Type2Capability) -> Bool {
        left.version == right.version && left.dataSize == right.dataSize && left.readAccess == right.readAccess
            && left.writeAccess == right.writeAccess
    }

    /// Hashes version, size and access.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(version.major)
        hasher.combine(version.minor)
        hasher.combine(dataSize)
        hasher.combine(readAccess)
        hasher.combine(writeAccess)
    }
}

/// The configuration pages of an Ultralight EV1 or NTAG21x.
///
/// CFG0: MIRROR, –, MIRROR_PAGE, AUTH0. MIRROR: bits 7 and 6 what is mirrored, bits 5 and 4 the first byte in its page. CFG1 byte 0, ACCESS: 80 PROT, 40 CFGLCK, 10 counter on, 08 counter needs the
/// password, low three bits AUTHLIM. Ultralight AES has AUTHLIM in bytes 2 and 3 of CFG1, and secure messaging in bit 1 of
/// byte 0 of CFG0. Ultralight C has AUTH0 alone, in byte 0 of its page, and AUTH1 in the next.
/// Sources: NXP data sheets.
package struct Type2Configuration: Hashable, Sendable {
    /// The first password-protected page; above the last page, none is protected.
    package let firstProtectedPage: UInt16
    /// Whether reading needs the password, too.
    package let protectsReading: Bool
    /// Whether the configuration is permanently locked; `nil` where there is no such bit.
    package let isLocked: Bool?
    /// Whether the tag counts reads; `nil` where there is no such bit.
    package let countsReads: Bool?
    /// Whether reading the counter needs the password; `nil` where there is no such bit.
    package let protectsCounter: Bool?
    /// The number of wrong passwords until permanent refusal, 0 for no limit; `nil` where there is no such field.
    package let passwordTries: Int?
    /// The text that reading returns in place of memory; `nil` for none, or where the product has none.
    package let mirror: Mirror?
    /// Whether commands and answers have a code after an authentication; `nil` where there is no such bit.
    package let usesSecureMessaging: Bool?

    /// UID or counter, or both, as upper-case hexadecimal digits in place of what is stored.
    ///
    /// Source: NXP NTAG213/215/216 data sheet, §8.7.
    package struct Mirror: Hashable, Sendable {
        /// What is mirrored.
        package let content: Content
        /// The page in which it begins.
        package let page: UInt16
        /// The byte in that page, 0 to 3.
        package let byte: Int

        /// The contents of a mirror, by bits 7 and 6 of MIRROR.
        package enum Content: UInt8, Hashable, Sendable {
            /// 14 digits.
            case uid = 1
            /// 6 digits.
            case counter = 2
            /// UID, `x` and counter, 21 characters.
            case both = 3

            /// The number of characters.
            package var length: Int {
                switch self {
                case .uid: 14
                case .counter: 6
                case .both: 21
                }
            }
        }

        /// Decodes CFG0; `nil` if nothing is mirrored. A page before the first user page disables the mirror.
        init?(_ page: [UInt8]) {
            guard page.count == Type2Memory.pageSize, page[2] > 3, let content = Content(rawValue: page[0] >> 6) else {
                return nil
            }
            self.content = content
            self.page = UInt16(page[2])
            byte = Int(page[0] >> 4 & 0x03)
        }

        /// The addresses of its characters.
        package var addresses: Range<Int> {
            let start = Int(page) * Type2Memory.pageSize + byte
            return start..<start + content.length
        }
    }

    /// The addresses of bytes that reading does not return as they were written.
    package var mirroredBytes: Range<Int> { mirror?.addresses ?? 0..<0 }

    /// Decodes the configuration of a product; `nil` when it has none, or its pages were not read.
    package init?(memory: Type2Memory, product: Type2Product) {
        guard let page = product.configurationPage, let first = memory[page], let second = memory[page &+ 1] else {
            return nil
        }
        if product.dynamicLocks == .ultralightC {
            firstProtectedPage = UInt16(first[0])
            protectsReading = second[0] & 0x01 == 0
            (isLocked, countsReads, protectsCounter, passwordTries) = (nil, nil, nil, nil)
            (mirror, usesSecureMessaging) = (nil, nil)
            return
        }
        let access = second[0]
        firstProtectedPage = UInt16(first[3])
        protectsReading = access & 0x80 != 0
        isLocked = access & 0x40 != 0
        if product.hasAESKey {
            // AUTHLIM has ten bits here.
            passwordTries = Int(second[2]) | Int(second[3] & 0x03) << 8
            usesSecureMessaging = first[0] & 0x02 != 0
            (countsReads, protectsCounter, mirror) = (nil, nil, nil)
            return
        }
        usesSecureMessaging = nil
        countsReads = product.counters.isEmpty ? nil : access & 0x10 != 0
        protectsCounter = product.counters.isEmpty ? nil : access & 0x08 != 0
        passwordTries = Int(access & 0x07)
        // Ultralight EV1 has no mirror.
        mirror = product.counters.count > 1 ? nil : Mirror(first)
    }

    /// Creates a configuration that is itself unreadable: from this page on, reading needs the password.
    package init(refusedFrom page: UInt16) {
        (firstProtectedPage, protectsReading) = (page, true)
        (isLocked, countsReads, protectsCounter, passwordTries) = (nil, nil, nil, nil)
        (mirror, usesSecureMessaging) = (nil, nil)
    }

    /// Returns whether writing a page needs the password.
    package func protects(_ page: UInt16) -> Bool { page >= firstProtectedPage }
}
