// SPDX-License-Identifier: Apache-2.0

import CardModel

/// How many systems, areas, services and blocks a Flipper file announces, and how many it has: a file that was cut off
/// has fewer.
struct FlipperCounts {
    var systems = 0
    var areas = 0
    var services = 0
    var blocks = 0
    private var announced: [String: Int] = [:]

    mutating func note(_ name: String, _ value: String, _ line: TextLine) throws(DocumentError) {
        guard let count = Int(value), (0...1_000_000).contains(count) else { throw line.malformed("a count") }
        announced[name] = count
    }

    /// Checks what belongs to one system, and begins the next.
    mutating func endSystem(_ line: TextLine) throws(DocumentError) {
        try check("Area found", areas, "areas", line)
        try check("Service found", services, "services", line)
        try check("Public blocks read", blocks, "blocks", line)
        (areas, services) = (0, 0)
        // The blocks of data format 1 belong to no system and are counted to the end of the file.
        if announced["Blocks total"] == nil { blocks = 0 }
    }

    /// Checks what belongs to the whole file.
    mutating func endFile(_ line: TextLine) throws(DocumentError) {
        try check("System found", systems, "systems", line)
        try check("Blocks total", blocks, "blocks", line)
    }

    private mutating func check(_ name: String, _ count: Int, _ what: String, _ line: TextLine) throws(DocumentError) {
        guard let expected = announced.removeValue(forKey: name), count < expected else { return }
        throw line.malformed("\(expected) \(what) before this line, not \(count)")
    }
}
