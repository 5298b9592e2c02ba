// SPDX-License-Identifier: Apache-2.0

/// The known name that somebody probably meant.
package enum NearestName {
    /// Returns the name that begins with the word or differs from it in the fewest letters: one in three at most.
    /// Of names with two letters, which say too little, only those that begin with the word.
    package static func of(_ word: String, among names: [String]) -> String? {
        let word = word.lowercased()
        guard word.utf8.count <= 64 else { return nil }
        if word.utf8.count > 1, let longer = names.first(where: { $0.lowercased().hasPrefix(word) }) { return longer }
        let nearest = names.map { (name: $0, distance: distance(Array(word.utf8), Array($0.lowercased().utf8))) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= nearest.name.utf8.count / 3 else { return nil }
        return nearest.name
    }

    /// How many letters were left out, added, replaced or exchanged with their neighbor.
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var older: [Int] = []
        var above = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var best = min(above[column] + (letter == other ? 0 : 1), above[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    best = min(best, older[column - 1] + 1)
                }
                current.append(best)
            }
            (older, above) = (above, current)
        }
        return above[second.count]
    }
}
