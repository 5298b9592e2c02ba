// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Small programs that use Kazasu as a library: what they import is all that they need.
let programs: [(name: String, product: String)] = [
    ("Balance", "Kazasu"), ("TapClock", "Kazasu"), ("SystemCodes", "Kazasu"), ("License", "Kazasu"),
    ("Turnstile", "Kazasu"), ("OwnReader", "Kazasu"), ("DecodeDump", "KazasuCards"), ("BatchDecoder", "KazasuCards"),
    ("OwnDecoder", "KazasuCards"), ("BlocksInMemory", "KazasuCards"),
    ("WithoutReader", "KazasuTesting"), ("KeepDump", "KazasuService"), ("OwnSink", "KazasuService"),
]

let package = Package(
    name: "examples",
    dependencies: [.package(name: "kazasu", path: "../..")],
    targets: programs.map { program in
        .executableTarget(
            name: program.name, dependencies: [.product(name: program.product, package: "kazasu")], path: program.name)
    }
)
