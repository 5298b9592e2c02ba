// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// What every Swift target is compiled with.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// Library targets also mark each use of unsafe memory.
let library: [SwiftSetting] = strict + [.strictMemorySafety()]

/// Binds a package to the services: without the trait none of theirs is fetched, and `make demo` waits for no database and no
/// server.
let services = TargetDependencyCondition.when(traits: ["Services"])

/// The rooms of Sources, in the order of the data, and the modules in each. A module imports from its own room and from those above it here.
let rooms = [
    "C": [
        "CArguments", "CCardLayouts", "CCurl", "CExpat", "CLibCrypto", "CLibNFC", "CLibUSB", "CLinux", "CMosquitto",
        "COpenSSL", "CPCSC", "CPostgreSQL", "CSQLite", "CSchemas", "CStationTables", "CYAML",
    ],
    "Cards": [
        "ByteCodec", "CardCiphers", "CardDecoders", "CardModel", "DumpFormats", "DumpFormatsXML", "MIFAREClassic",
        "NDEF",
    ],
    "Protocols": [
        "CardCrypto", "CardReading", "CardVerification", "FeliCa", "ISO7816", "ISODEP", "NFCForumTags", "ReaderCore",
    ],
    "Readers": [
        "PCSCReader", "PN53xReader", "PaSoRiReader", "ReaderDiagnosis", "Recordings", "SystemDevices", "USBTransport",
    ],
    "Simulation": ["ReaderTesting", "VirtualCards", "VirtualChips", "VirtualReader"],
    "Products": ["Kazasu", "KazasuCards", "KazasuReading", "KazasuTesting"],
    "Services": [
        "Collect", "KazasuLedger", "KazasuService", "KazasuTaps", "MQTT", "PCSCBridge", "SQLiteFiles", "Server",
        "SharedReaders",
    ],
    "Programs": ["CommandDescription", "KazasuCLI", "KazasuCommands", "KazasuServiceCLI", "kazasu", "kazasud"],
]

/// Where the sources of a module lie.
func path(_ module: String) -> String {
    "Sources/\(rooms.first { $0.value.contains(module) }?.key ?? "")/\(module)"
}

/// The modules that share declarations as `package`, lowest first.
let modules: [(name: String, dependencies: [Target.Dependency])] = [
    ("ByteCodec", []),
    ("CardCiphers", ["ByteCodec"]),
    ("CardModel", ["ByteCodec"]),
    ("ReaderCore", ["ByteCodec", "CardModel"]),
    ("CardCrypto", ["ByteCodec", "CLibCrypto", "CardCiphers", "CardModel"]),
    ("NDEF", ["ByteCodec", "CardModel"]),
    ("MIFAREClassic", ["CardModel"]),
    ("CardDecoders", ["ByteCodec", "CStationTables", "CardModel", "NDEF"]),
    ("DumpFormats", ["ByteCodec", "CardModel", "MIFAREClassic"]),
    ("DumpFormatsXML", ["CExpat", "CardModel", "DumpFormats"]),
    ("FeliCa", ["ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "ReaderCore"]),
    ("ISO7816", ["ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "ReaderCore"]),
    (
        "NFCForumTags",
        [
            "ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "FeliCa", "ISO7816", "MIFAREClassic", "NDEF",
            "ReaderCore",
        ]
    ),
    ("CardVerification", ["ByteCodec", "CardCrypto", "CardDecoders", "CardModel"]),
    ("PCSCReader", ["ByteCodec", "CPCSC", "CardModel", "ReaderCore"]),
    ("ISODEP", ["CardModel", "ReaderCore"]),
    ("SystemDevices", ["CLinux", "CardModel", "ReaderCore"]),
    ("USBTransport", ["CLibUSB", "ReaderCore", "SystemDevices"]),
    (
        "PN53xReader",
        ["ByteCodec", "CLibNFC", "CardCiphers", "CardModel", "ISODEP", "ReaderCore", "SystemDevices", "USBTransport"]
    ),
    ("PaSoRiReader", ["ByteCodec", "CardModel", "ISODEP", "ReaderCore", "SystemDevices", "USBTransport"]),
    ("ReaderDiagnosis", ["ByteCodec", "CardModel", "SystemDevices"]),
    ("VirtualCards", ["ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "ReaderCore"]),
    ("VirtualChips", ["ByteCodec", "ReaderCore", "VirtualCards"]),
    ("VirtualReader", ["ByteCodec", "CardModel", "ReaderCore", "VirtualCards", "VirtualChips"]),
    ("ReaderTesting", ["ByteCodec", "CardModel", "ReaderCore", "VirtualReader"]),
    (
        "CardReading",
        [
            "ByteCodec", "CCardLayouts", "CardCiphers", "CardCrypto", "CardModel", "FeliCa", "ISO7816", "NDEF",
            "NFCForumTags", "ReaderCore",
        ]
    ),
    ("Recordings", ["ByteCodec", "CardCrypto", "CardModel", "CardReading", "FeliCa", "ReaderCore", "ReaderDiagnosis"]),
]

/// Where modules keep tables of facts; whatever lies there is compiled in, so a new file needs no line here.
let tables = [
    "CardDecoders": ["Data"],
    "CardModel": ["Data"],
    "CardReading": ["OpenFiles/Data", "Recognition/Data"],
    "CardVerification": ["Data"],
    "FeliCa": ["Registry/Data"],
    "ISO7816": ["Status/Data"],
    "NDEF": ["Data"],
    "NFCForumTags": ["Originality/Data"],
    "ReaderCore": ["Data"],
    "ReaderDiagnosis": ["Data"],
    "SystemDevices": ["Data"],
]

/// Modules that call what newer versions of a C library deprecate, while the older ones have nothing else.
let deprecating: [String: [SwiftSetting]] = [
    // Since expat 2.8, for numbers of lines beyond 2^32.
    "DumpFormatsXML": [.treatWarning("DeprecatedDeclaration", as: .warning)]
]

/// The test targets and what each may import beside `TestSupport`.
let tests: [(name: String, dependencies: [Target.Dependency])] = [
    ("ByteCodecTests", ["ByteCodec"]),
    ("CommandDescriptionTests", ["CardModel", "CommandDescription"]),
    ("CardCiphersTests", ["ByteCodec", "CardCiphers"]),
    ("CardCryptoTests", ["ByteCodec", "CardCiphers", "CardCrypto", "CardModel"]),
    ("CardModelTests", ["ByteCodec", "CardModel"]),
    ("ReaderCoreTests", ["ByteCodec", "CardModel", "ReaderCore"]),
    (
        "FeliCaTests",
        ["ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "FeliCa", "ReaderCore", "VirtualReader"]
    ),
    (
        "ISO7816Tests",
        [
            "ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "ISO7816", "ReaderCore", "ReaderTesting",
            "VirtualReader",
        ]
    ),
    ("ISODEPTests", ["ByteCodec", "CardModel", "ISODEP", "ReaderCore", "VirtualReader"]),
    (
        "VirtualReaderTests",
        [
            "ByteCodec", "CardModel", "ReaderCore", "ReaderTesting", "SimulatedChips", "VirtualCards", "VirtualChips",
            "VirtualReader",
        ]
    ),
    (
        "PN53xReaderTests",
        [
            "Arrivals", "ByteCodec", "CLibNFC", "CardModel", "CardReading", "ISO7816", "PN53xReader", "PassportChips",
            "ReaderCore", "ReaderTesting", "SimulatedChips", "SystemDevices", "USBTransport", "VirtualReader",
        ]
    ),
    ("SystemDevicesTests", ["ByteCodec", "ReaderCore", "SystemDevices"]),
    ("ReaderDiagnosisTests", ["CardModel", "ReaderDiagnosis", "SystemDevices"]),
    (
        "PaSoRiReaderTests",
        [
            "Arrivals", "ByteCodec", "CardModel", "CardReading", "ISO7816", "PassportChips", "ReaderCore",
            "PaSoRiReader", "ReaderTesting", "SimulatedChips", "SystemDevices", "USBTransport", "VirtualReader",
        ]
    ),
    (
        "PCSCReaderTests",
        [
            "Arrivals", "ByteCodec", "CardModel", "CardReading", "ISO7816", "ReaderCore", "PCSCReader", "ReaderTesting",
            "VirtualReader",
        ]
    ),
    ("NDEFTests", ["ByteCodec", "CardModel", "NDEF"]),
    ("MIFAREClassicTests", ["ByteCodec", "CardModel", "MIFAREClassic"]),
    (
        "NFCForumTagsTests",
        [
            "ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "FeliCa", "ISO7816", "MIFAREClassic", "NDEF",
            "NFCForumTags", "ReaderCore", "VirtualCards", "VirtualReader",
        ]
    ),
    ("CardDecodersTests", ["ByteCodec", "CardDecoders", "CardModel", "NDEF"]),
    ("CardVerificationTests", ["ByteCodec", "CardCrypto", "CardDecoders", "CardModel", "CardVerification"]),
    ("DumpFormatsTests", ["ByteCodec", "CardModel", "DumpFormats", "DumpFormatsXML", "MIFAREClassic"]),
    (
        "CardReadingTests",
        [
            "Arrivals", "ByteCodec", "CardCiphers", "CardCrypto", "CardDecoders", "CardModel", "CardReading",
            "CardVerification", "FeliCa", "ISO7816", "NDEF", "NFCForumTags", "PN53xReader", "ReaderCore",
            "VirtualReader",
        ]
    ),
    ("RecordingsTests", ["CardModel", "CardReading", "ReaderCore", "Recordings", "VirtualReader"]),
    ("KazasuCardsTests", ["KazasuCards"]),
    (
        "KazasuTests",
        ["CardReading", "Kazasu", "KazasuCards", "KazasuReading", "KazasuTesting", "ReaderCore", "VirtualReader"]
    ),
    (
        "SharedReadersTests",
        [
            "CLinux", "CardModel", "CardReading", "Kazasu", "KazasuReading", "ReaderCore", "SharedReaders",
            "VirtualReader",
        ]
    ),
    (
        "KazasuCLITests",
        ["ByteCodec", "CardDecoders", "CardModel", "DumpFormats", "DumpFormatsXML", "VirtualReader", "kazasu"]
    ),
    (
        "KazasuLedgerTests",
        [
            "ByteCodec", "CardDecoders", "CardModel", "KazasuLedger", "LedgerSupport", "SQLiteFiles",
        ]
    ),
    (
        "KazasuTapsTests",
        [
            "CSQLite", "CardDecoders", "CardModel", "Kazasu", "KazasuReading", "KazasuTaps", "ReaderCore",
            "SQLiteFiles",
            "TapSupport",
        ]
    ),
    ("MQTTTests", ["CardCiphers", "CardModel", "KazasuTaps", "MQTT", "TapSupport"]),
    ("CollectTests", ["CardModel", "Collect", "KazasuTaps", "MQTT", "TapSupport"]),
    (
        "ServerTests",
        [
            "CardModel", "Kazasu", "KazasuTaps", "Server", "TapSupport",
            .product(name: "NIOCore", package: "swift-nio", condition: services),
            .product(name: "NIOEmbedded", package: "swift-nio", condition: services),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: services),
        ]
    ),
    ("PCSCBridgeTests", ["ByteCodec", "CardModel", "Kazasu", "PCSCBridge", "ReaderCore", "SharedReaders"]),
    (
        "KazasuServiceTests",
        [
            "CardDecoders", "CardModel", "Collect", "Kazasu", "KazasuLedger", "KazasuReading", "KazasuService",
            "KazasuTaps",
            "LedgerSupport", "ReaderCore", "SQLiteFiles", "TapSupport",
        ]
    ),
    (
        "KazasuServiceCLITests",
        [
            "CardDecoders", "CardModel", "CommandDescription", "Kazasu", "KazasuCLI", "KazasuCommands", "KazasuTaps",
            "KazasuServiceCLI", "ReaderCore", "Server", "SharedReaders", "kazasu", "kazasud",
        ]
    ),
]

/// The fuzzers and the modules whose parsers each feeds. A fuzzer has no `main`: it links only with `--sanitize fuzzer`,
/// so that the targets are there only when `make fuzz` asks for them.
let fuzzers: [(name: String, dependencies: [Target.Dependency])] =
    Context.environment["KAZASU_FUZZ"] == nil
    ? []
    : [
        ("Port100Frames", ["PaSoRiReader"]),
        ("Port400Messages", ["ReaderCore", "PaSoRiReader"]),
        ("PaSoRiDialogues", ["CardModel", "ReaderCore", "PaSoRiReader", "USBTransport"]),
        ("ISODEPBlocks", ["ISODEP", "ReaderCore"]),
        ("Documents", ["CardModel", "DumpFormats", "DumpFormatsXML", "MIFAREClassic"]),
    ]

/// What programs and tests call all the time. To optimize it for the tests costs a minute of compiling and saves several of
/// running.
let busy: Set = [
    "ByteCodec", "CardCiphers", "CardCrypto", "CardModel", "CardReading", "CardVerification", "FeliCa", "ISO7816",
    "ISODEP", "KazasuLedger", "MIFAREClassic", "NFCForumTags", "PN53xReader", "PaSoRiReader", "ReaderCore",
    "SQLiteFiles", "VirtualCards", "VirtualChips", "VirtualReader",
]

/// For the tests (KAZASU_WHOLE), the busy modules are optimized. `make release` (KAZASU_COMPACT) makes the programs smaller by a
/// twentieth: what is not for millions of records, as services are, or for every byte is compiled for size. Nobody who
/// depends on a product gets these flags.
func optimization(_ module: String) -> [SwiftSetting] {
    if Context.environment["KAZASU_WHOLE"] != nil {
        return busy.contains(module) ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []
    }
    let isFast =
        rooms["Services"]?.contains(module) == true || ["ByteCodec", "CardCiphers", "CardModel"].contains(module)
    guard Context.environment["KAZASU_COMPACT"] != nil, !isFast else { return [] }
    return [.unsafeFlags(["-Osize"], .when(configuration: .release))]
}

// One expression for all of them takes Swift 6.2 too long to check.
let moduleTargets: [Target] = modules.map {
    .target(
        name: $0.name, dependencies: $0.dependencies, path: path($0.name),
        resources: (tables[$0.name] ?? []).map { .embedInCode($0) },
        swiftSettings: library + (deprecating[$0.name] ?? []) + optimization($0.name))
}

let otherTargets: [Target] = [
    .target(name: "CCardLayouts", path: path("CCardLayouts")),
    .target(name: "CLibCrypto", path: path("CLibCrypto")),
    .target(name: "CPCSC", path: path("CPCSC")),
    .target(name: "CSchemas", path: path("CSchemas")),
    // With STATIONS=open without the rows that may not be passed on by themselves; Scripts/station-tables.py --open comes first.
    .target(
        name: "CStationTables", path: path("CStationTables"),
        cSettings: Context.environment["STATIONS"] == "open" ? [.define("KAZASU_STATIONS_OPEN")] : []),
    .target(name: "CArguments", path: path("CArguments")),
    .systemLibrary(name: "CLinux", path: path("CLinux")),
    .systemLibrary(name: "CExpat", path: path("CExpat"), pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CLibNFC", path: path("CLibNFC"), pkgConfig: "libnfc", providers: [.apt(["libnfc-dev"])]),
    .systemLibrary(
        name: "CLibUSB", path: path("CLibUSB"), pkgConfig: "libusb-1.0", providers: [.apt(["libusb-1.0-0-dev"])]),
    .systemLibrary(
        name: "CCurl", path: path("CCurl"), pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
        name: "CMosquitto", path: path("CMosquitto"), pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]
    ),
    .systemLibrary(name: "COpenSSL", path: path("COpenSSL"), pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
        name: "CPostgreSQL", path: path("CPostgreSQL"), pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
        name: "CSQLite", path: path("CSQLite"), pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CYAML", path: path("CYAML"), pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .target(
        name: "KazasuReading",
        dependencies: [
            "ByteCodec", "CardCiphers", "CardCrypto", "CardDecoders", "CardModel", "CardReading", "CardVerification",
            "DumpFormats", "FeliCa", "ISO7816", "MIFAREClassic", "NDEF", "NFCForumTags", "ReaderCore",
        ],
        path: path("KazasuReading"), swiftSettings: library + optimization("KazasuReading")),
    .target(
        name: "Kazasu",
        dependencies: [
            "CardDecoders", "CardModel", "CardReading", "DumpFormatsXML", "KazasuReading", "PCSCReader", "PN53xReader",
            "PaSoRiReader", "ReaderCore", "ReaderDiagnosis", "SystemDevices", "USBTransport", "VirtualReader",
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        path: path("Kazasu"), swiftSettings: library + optimization("Kazasu")),
    .target(
        name: "KazasuCards", dependencies: ["CardDecoders", "CardModel", "DumpFormats"], path: path("KazasuCards"),
        swiftSettings: library),
    .target(
        name: "KazasuTesting", dependencies: ["Kazasu", "ReaderTesting", "VirtualReader"], path: path("KazasuTesting"),
        swiftSettings: library),
    // What only a program with clients of its own needs.
    .target(
        name: "SharedReaders", dependencies: ["CLinux", "CardReading", "Kazasu", "ReaderCore", "SystemDevices"],
        path: path("SharedReaders"),
        swiftSettings: library),
    .target(
        name: "CommandDescription", dependencies: ["CardModel"], path: path("CommandDescription"),
        swiftSettings: strict + optimization("CommandDescription")),
    // A client of the facade, which re-exports the vocabulary; the other three are bytes, secrets and system calls.
    .target(
        name: "KazasuCLI",
        dependencies: [
            "ByteCodec", "CArguments", "CLinux", "CardCiphers", "CommandDescription", "Kazasu",
            "MIFAREClassic", "Recordings",
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        path: path("KazasuCLI"), resources: [.embedInCode("Errors/Data")],
        swiftSettings: strict + optimization("KazasuCLI")),
    // One file a command; the services need what is above and do not wait for it.
    .target(
        name: "KazasuCommands",
        dependencies: [
            "ByteCodec", "CardCiphers", "CardCrypto", "CommandDescription", "Kazasu", "KazasuCLI", "MIFAREClassic",
            "Recordings",
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        path: path("KazasuCommands"), swiftSettings: strict + optimization("KazasuCommands")),
    .executableTarget(
        name: "kazasu", dependencies: ["KazasuCLI", "KazasuCommands"], path: path("kazasu"), swiftSettings: strict),
    // What stores and serves; KazasuCLI and what is below it must not depend on it.
    .target(
        name: "SQLiteFiles", dependencies: ["CSQLite", "CardModel"], path: path("SQLiteFiles"),
        swiftSettings: library + optimization("SQLiteFiles")),
    .target(
        name: "KazasuLedger",
        dependencies: [
            "ByteCodec", "CSQLite", "CardDecoders", "CardModel", "DumpFormats", "SQLiteFiles",
        ],
        path: path("KazasuLedger"), swiftSettings: library + optimization("KazasuLedger")),
    .target(
        name: "KazasuTaps",
        dependencies: [
            "ByteCodec", "CCurl", "CLinux", "COpenSSL", "CSQLite", "CardDecoders", "CardModel", "Kazasu", "ReaderCore",
            "SQLiteFiles",
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        path: path("KazasuTaps"), swiftSettings: library),
    .target(
        name: "MQTT",
        dependencies: [
            "ByteCodec", "CMosquitto", "CardCiphers", "CardModel", "KazasuTaps", "ReaderCore",
        ],
        path: path("MQTT"), swiftSettings: library),
    .target(
        name: "Collect",
        dependencies: [
            "CPostgreSQL", "CSQLite", "CardModel", "MQTT", "SQLiteFiles",
        ],
        path: path("Collect"), swiftSettings: library),
    .target(
        name: "Server",
        dependencies: [
            "ByteCodec", "CSchemas", "CardModel", "Kazasu", "KazasuTaps", "ReaderCore",
            .product(name: "NIOCore", package: "swift-nio", condition: services),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: services),
            .product(name: "NIOPosix", package: "swift-nio", condition: services),
            .product(name: "NIOWebSocket", package: "swift-nio", condition: services),
        ],
        path: path("Server"), resources: [.embedInCode("Page")], swiftSettings: library),
    .target(
        name: "PCSCBridge", dependencies: ["ByteCodec", "Kazasu", "ReaderCore", "SharedReaders"],
        path: path("PCSCBridge"), swiftSettings: library),
    // The two products in one, and the sink that joins them.
    .target(
        name: "KazasuService", dependencies: ["CardModel", "KazasuLedger", "KazasuTaps"],
        path: path("KazasuService"), swiftSettings: library),
    .target(
        name: "KazasuServiceCLI",
        dependencies: [
            "CYAML", "CardCiphers", "Collect", "CommandDescription", "Kazasu", "KazasuCLI", "KazasuLedger",
            "KazasuService",
            "KazasuTaps", "MQTT", "PCSCBridge", "ReaderCore", "Server", "SharedReaders",
            .product(name: "Logging", package: "swift-log", condition: services),
        ],
        path: path("KazasuServiceCLI"), swiftSettings: strict),
    .executableTarget(
        name: "kazasud", dependencies: ["KazasuCLI", "KazasuCommands", "KazasuServiceCLI"], path: path("kazasud"),
        swiftSettings: strict),
    .target(
        name: "SimulatedChips", dependencies: ["ByteCodec", "ReaderCore", "USBTransport", "VirtualReader"],
        path: "Tests/SimulatedChips", swiftSettings: strict),
    .target(
        name: "Arrivals", dependencies: ["CardModel", "CardReading", "ReaderCore", "VirtualReader"],
        path: "Tests/Arrivals", swiftSettings: strict),
    .target(
        name: "PassportChips",
        dependencies: [
            "CardCrypto", "CardDecoders", "CardModel", "CardReading", "CardVerification", "ISO7816", "ReaderCore",
            "TestSupport", "VirtualReader",
        ],
        path: "Tests/PassportChips", swiftSettings: strict),
    .executableTarget(
        name: "usb-chip", dependencies: ["Arrivals", "ReaderCore", "SimulatedChips", "TestSupport", "VirtualReader"],
        path: "Tests/USB/Chip", swiftSettings: strict),
    .executableTarget(
        name: "usb-arrivals", dependencies: ["Arrivals", "PN53xReader", "ReaderCore", "PaSoRiReader"],
        path: "Tests/USB/Arrivals", swiftSettings: strict),
    .executableTarget(
        name: "site-publisher", dependencies: ["KazasuTaps", "MQTT"], path: "Tests/Bench/Publisher",
        swiftSettings: strict),
    .executableTarget(
        name: "card-stand", dependencies: ["VirtualReader"], path: "Tests/Sites/Stand", swiftSettings: strict),
    .executableTarget(
        name: "ledger-bench", dependencies: ["ByteCodec", "CardDecoders", "CardModel", "KazasuLedger"],
        path: "Tests/Ledger", swiftSettings: strict),
    .target(
        name: "TapSupport", dependencies: ["CardModel", "KazasuTaps"], path: "Tests/TapSupport", swiftSettings: strict),
    .target(
        name: "LedgerSupport", dependencies: ["CardDecoders", "CardModel", "KazasuLedger", "TestSupport"],
        path: "Tests/LedgerSupport",
        swiftSettings: strict),
    .target(
        name: "TestSupport", dependencies: ["CLinux", "CardModel", "ReaderCore", "SystemDevices"],
        path: "Tests/TestSupport",
        swiftSettings: strict),
]

/// The test targets that KAZASU_TESTS names, with blanks between them; all without it. With `--product kazasuPackageTests` only
/// what these need is compiled.
let chosenTests = Context.environment["KAZASU_TESTS"]?.split(separator: " ").map(String.init)

let testTargets: [Target] = tests.filter { chosenTests?.contains($0.name) ?? true }.map {
    .testTarget(
        name: $0.name, dependencies: $0.dependencies + ["TestSupport"],
        swiftSettings: strict)
}

let fuzzTargets: [Target] = fuzzers.map {
    .executableTarget(
        name: $0.name, dependencies: $0.dependencies, path: "Tests/Fuzz/\($0.name)",
        swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
}

let package = Package(
    name: "kazasu",
    // Where the products without drivers run besides Linux: the first with the standard library's Mutex.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Kazasu", targets: ["Kazasu"]),
        .library(name: "KazasuCards", targets: ["KazasuCards"]),
        .library(name: "KazasuReading", targets: ["KazasuReading"]),
        .library(name: "KazasuTesting", targets: ["KazasuTesting"]),
        .library(name: "KazasuTaps", targets: ["KazasuTaps"]),
        .library(name: "KazasuLedger", targets: ["KazasuLedger"]),
        .library(name: "KazasuService", targets: ["KazasuService"]),
        .executable(name: "kazasu", targets: ["kazasu"]),
        .executable(name: "kazasud", targets: ["kazasud"]),
    ],
    traits: [
        .default(enabledTraits: ["Services"]),
        .trait(
            name: "Services",
            description: "Taps, ledger, server and the program kazasud: fetches swift-nio and swift-log."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: moduleTargets + otherTargets + testTargets + fuzzTargets,
    swiftLanguageModes: [.v6]
)
