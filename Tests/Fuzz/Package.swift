// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// One fuzzer each: its folder, and the modules whose parsers it feeds. `make fuzz` builds and runs all of them.
let fuzzers: [(name: String, modules: [String])] = [
    ("Port100Frames", ["PaSoRiReader"]),
    ("Port400Messages", ["NFCTransport", "PaSoRiReader"]),
    ("PaSoRiDialogues", ["NFCTransport", "PaSoRiReader", "USBTransport"]),
    ("ISODEPBlocks", ["ISODEP", "NFCTransport"]),
    ("Documents", ["CardModel", "DumpFormats"]),
]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "kazasu", path: "../..")],
    targets: fuzzers.map { fuzzer in
        .executableTarget(
            name: fuzzer.name, dependencies: fuzzer.modules.map { .product(name: $0, package: "kazasu") },
            path: fuzzer.name, swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    },
    swiftLanguageModes: [.v6]
)
