// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The manifest of a program of your own, outside this repository; `make examples` checks it.
let package = Package(
    name: "my-program",
    dependencies: [.package(url: "https://example.org/kazasu.git", branch: "main", traits: [])],
    targets: [.executableTarget(name: "my-program", dependencies: [.product(name: "Kazasu", package: "kazasu")])]
)
