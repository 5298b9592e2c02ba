// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// A product that is a Type 2 Tag; the facts are rows of `Data/type2-products.tsv`.
public struct Type2Product: Hashable, Sendable {
    /// What its maker calls it.
    public let name: String
    /// Bytes 1 to 6 of its answer to GET_VERSION; empty when it does not know the command.
    public let version: [UInt8]
    /// How many pages it has; `nil` when that is not in the table.
    public let pageCount: UInt16?
    /// The pages for the user's data; `nil` when they are not in the table.
    public let userPages: ClosedRange<UInt16>?
    /// The page with the dynamic lock bytes; `nil` when it has none.
    public let dynamicLockPage: UInt16?
    /// Which pages a dynamic lock bit locks.
    public let dynamicLocks: DynamicLocks?
    /// The first page of the configuration (CFG0); `nil` when it has none.
    public let configurationPage: UInt16?
    /// The numbers of its counters.
    public let counters: [UInt8]
    /// Whether it answers READ_SIG.
    public let hasSignature: Bool

    /// Which pages the dynamic lock bits lock, from page 16 on.
    public enum DynamicLocks: Hashable, Sendable {
        /// Each bit of the first two bytes this many.
        case pagesPerBit(UInt16)
        /// As in Ultralight C and NTAG203: four pages a bit, block-locking bits between them.
        case ultralightC
    }

    /// The pages with key or password, which are never written by hand: those behind the configuration (CFG0 and CFG1,
    /// AUTH0 and AUTH1). `nil` when the product has none.
    public var secretPages: ClosedRange<UInt16>? {
        guard let configurationPage else { return nil }
        let first = configurationPage &+ 2
        return first...first &+ (dynamicLocks == .ultralightC ? 3 : 1)
    }

    /// How many pages can be read at all: an Ultralight C never gives its key, others give zeros. `nil` when that is not
    /// in the table.
    public var readablePageCount: UInt16? {
        dynamicLocks == .ultralightC ? secretPages?.lowerBound ?? pageCount : pageCount
    }

    init(_ row: FactRow) throws(TableFault) {
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
    }

    private static func page(_ row: FactRow, _ column: String) throws(TableFault) -> UInt16? {
        try row.text(column) == nil ? nil : try row.hex(column)
    }

    /// Every product of the table.
    public static var all: [Type2Product] { table.rows }

    /// What is wrong in the table; a release has no faults.
    public static var faults: [TableFault] { table.faults + NDEFURIPrefix.table.faults }

    private static let table = FactTable(
        PackageResources.type2_products_tsv,
        columns: [
            "product", "version", "pages", "first", "last", "dynamicLock", "locks", "configuration", "counters",
            "signature",
        ], key: ["product"], row: Type2Product.init(_:))

    /// The product with this answer to GET_VERSION, eight bytes; `nil` when it is not in the table.
    public static func of(version: [UInt8]) -> Type2Product? {
        guard version.count == 8 else { return nil }
        return all.first { !$0.version.isEmpty && version[1...6].elementsEqual($0.version) }
    }

    /// The product with this name.
    public static func named(_ name: String) -> Type2Product? {
        all.first { $0.name == name }
    }

    /// MIFARE Ultralight, which knows neither GET_VERSION nor an authentication.
    public static var ultralight: Type2Product? { named("Ultralight") }
    /// MIFARE Ultralight C, which answers AUTHENTICATE.
    public static var ultralightC: Type2Product? { named("Ultralight C") }
    /// NTAG203, which refuses GET_VERSION where Ultralight keeps silent.
    public static var ntag203: Type2Product? { named("NTAG203") }
}
