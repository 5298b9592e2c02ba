// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Small programs that use Kazasu as a library: what they import is all that they need.
let programs: [(name: String, products: [String])] = [
    ("Balance", ["Kazasu"]), ("TapClock", ["Kazasu"]), ("SystemCodes", ["Kazasu"]), ("License", ["Kazasu"]),
    ("Turnstile", ["Kazasu"]), ("OwnReader", ["Kazasu"]), ("RawFeliCa", ["Kazasu"]), ("RawAPDUs", ["Kazasu"]),
    ("TagPages", ["Kazasu"]), ("LiveDecoder", ["Kazasu", "KazasuCards"]), ("Swift5", ["Kazasu"]),
    ("OwnerKeys", ["Kazasu"]), ("IssueStandard", ["Kazasu"]), ("SetUpTag", ["Kazasu"]), ("SetUpDESFire", ["Kazasu"]),
    ("DESFireFiles", ["Kazasu"]),
    ("DecodeDump", ["KazasuCards"]), ("BatchDecoder", ["KazasuCards"]), ("OwnDecoder", ["KazasuCards"]),
    ("BlocksInMemory", ["KazasuCards"]),
    ("WithoutReader", ["KazasuTesting"]), ("KeepDump", ["KazasuLedger"]), ("OwnSink", ["KazasuTaps"]),
]

/// Programs that are not written for Swift 6.
let older = ["Swift5"]

let package = Package(
    name: "examples",
    dependencies: [.package(name: "kazasu", path: "../..")],
    targets: programs.map { program in
        .executableTarget(
            name: program.name, dependencies: program.products.map { .product(name: $0, package: "kazasu") },
            path: program.name,
            swiftSettings: older.contains(program.name) ? [.swiftLanguageMode(.v5)] : [])
    } + [
        // Core NFC's card as a reader: a library for an app. Where there is no Core NFC, a stand-in has its signatures.
        .target(name: "CoreNFC", path: "CoreNFCStandIn"),
        .target(
            name: "CoreNFCReader",
            dependencies: [
                .product(name: "KazasuReading", package: "kazasu"),
                .target(name: "CoreNFC", condition: .when(platforms: [.linux])),
            ], path: "CoreNFCReader"),
        // What a program's own tests look like, and what they can reach.
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                .product(name: "Kazasu", package: "kazasu"), .product(name: "KazasuTesting", package: "kazasu"),
                .product(name: "KazasuTaps", package: "kazasu"),
            ], path: "Tests"),
    ]
)
