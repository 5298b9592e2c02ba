// SPDX-License-Identifier: Apache-2.0

package import Kazasu

/// The texts about numbers and FeliCa nodes, for display.
package enum Words {
    /// A count with its noun in English.
    package static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

    /// Words with commas, and `or` before the last one.
    package static func choice(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// Ascending numbers with each run as one range: `0-3 15`.
    package static func ranges<Number: FixedWidthInteger>(_ numbers: [Number], _ name: (Number) -> String) -> String {
        var runs: [(first: Number, last: Number)] = []
        for number in numbers {
            let isNext = runs.last.map { $0.last &+ 1 == number } ?? false
            if isNext { runs[runs.count - 1].last = number } else { runs.append((number, number)) }
        }
        return runs.map { $0 == $1 ? name($0) : "\(name($0))-\(name($1))" }.joined(separator: " ")
    }

    package static func kind(_ kind: ServiceKind) -> String {
        switch kind {
        case .random: tr("random", "ランダム")
        case .cyclic: tr("cyclic", "サイクリック")
        case .purse: tr("purse", "パース")
        }
    }

    package static func access(_ access: ServiceAccess) -> String {
        switch access {
        case .readWrite: tr("read-write", "読み書き")
        case .readOnly: tr("read-only", "読み出し")
        case .direct: tr("direct", "ダイレクト")
        case .cashback: tr("cashback", "戻入")
        case .decrement: tr("decrement", "減算")
        }
    }
}
