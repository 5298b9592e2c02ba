// SPDX-License-Identifier: Apache-2.0

import CardModel
import ISO7816

/// What is asked of the user on the terminal about PINs.
struct PINDialog {
    private let context: Context

    init(_ context: Context) { self.context = context }

    /// Whether a last try may be used: only when the flag is there and the user types yes on the terminal.
    func consent(allowLastTry: Bool) -> PINConsent {
        PINConsent(allowsLastTry: allowLastTry) { reference, tries in
            guard let terminal = Terminal() else { return false }
            let name = reference.name[Language.current]
            let question =
                switch tries {
                case .count(let count):
                    tr(
                        "\(name) has \(count) try left. A wrong PIN locks it.",
                        "\(name)の残りは \(count) 回です。間違えると閉塞します。")
                default:
                    tr(
                        "The card does not say how many tries \(name) has left. A wrong PIN may lock it.",
                        "\(name)の残り回数が分かりません。間違えると閉塞するおそれがあります。")
                }
            return (try? terminal.confirms(question)) ?? false
        }
    }

    /// The PIN from its source, or from the terminal.
    ///
    /// - Returns: `nil` when there is neither a source nor a terminal, or nothing was typed.
    func pin(_ source: SecretSource?, _ name: LocalizedText) throws(Failure) -> PIN? {
        if let source { return try source.readPIN(name[Language.current]) }
        guard let terminal = Terminal() else { return nil }
        return try terminal.secret("\(name[Language.current]): ").map { PIN($0) }
    }

    /// Asks for a PIN of four digits, unless it is locked, or another wrong one may lock it and nobody agreed to that.
    ///
    /// - Returns: `nil` when it was not asked for, or nothing was typed.
    func ask(_ name: LocalizedText, _ tries: TriesLeft?, allowLastTry: Bool) throws(Failure) -> PIN? {
        switch tries {
        case .locked:
            context.note(tr("\(name.english) is locked and is not asked for", "\(name.japanese)は閉塞しているため尋ねません"))
            return nil
        case .count(let count) where count > 1 || allowLastTry: break
        case .unknown where allowLastTry: break
        default:
            context.note(
                tr(
                    "\(name.english) is not asked for, since another wrong one may lock it",
                    "間違えると閉塞するおそれがあるため、\(name.japanese)は尋ねません"))
            return nil
        }
        let words = tries?.words ?? ""
        return try pin(
            nil,
            LocalizedText(
                "\(name.english) (4 digits, \(words); Enter goes without)",
                "\(name.japanese)（数字 4 桁、\(words)。Enter で省略）"))
    }
}
