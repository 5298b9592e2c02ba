// SPDX-License-Identifier: Apache-2.0

import CardModel

/// The words of FeliCa nodes for people.
enum Words {
    /// A number of things in English.
    static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }

    static func kind(_ kind: ServiceKind) -> String {
        switch kind {
        case .random: tr("random", "ランダム")
        case .cyclic: tr("cyclic", "サイクリック")
        case .purse: tr("purse", "パース")
        }
    }

    static func access(_ access: ServiceAccess) -> String {
        switch access {
        case .readWrite: tr("read-write", "読み書き")
        case .readOnly: tr("read-only", "読み出し")
        case .direct: tr("direct", "ダイレクト")
        case .cashback: tr("cashback", "戻入")
        case .decrement: tr("decrement", "減算")
        }
    }
}
