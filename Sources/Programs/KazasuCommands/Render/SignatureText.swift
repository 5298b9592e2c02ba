// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI

extension CardSignature {
    /// The check as a section of its own.
    ///
    /// - Parameters:
    ///   - items: those that it may cover.
    ///   - notShown: what it cannot show.
    func text<Report>(_ items: [IdentityItem<Report>], notShown: String? = nil) -> String {
        func names(_ ids: [String]) -> String {
            ids.coverage(items).map { $0[Language.current] }.joined(separator: tr(", ", "、"))
        }
        var rows = [[tr("Result", "結果"), words]]
        if let authority { rows.append([tr("Authority", "認証局"), authority]) }
        if state != .absent {
            rows.append([tr("Covers", "対象"), names(covers)])
            if !notCovered.isEmpty { rows.append([tr("Does not cover", "対象外"), names(notCovered)]) }
        }
        if let notShown { rows.append([tr("Does not show", "分からないこと"), notShown]) }
        return "\n" + tr("Signature", "電子署名") + "\n"
            + Columns.values(rows, indent: "  ") { $1 == state.words ? state.color : nil }
    }
}

extension CardSignature.State {
    /// Green for what was proved, red for what was refuted, yellow for what is not known.
    var color: Color? {
        switch self {
        case .valid: .green
        case .absent, .notChecked: nil
        case .wrong, .malformed: .red
        default: .yellow
        }
    }
}
