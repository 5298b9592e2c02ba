// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import ISO7816
import NFCTransport

extension Failure {
    /// Why a licence or a My Number card was not read, or not to its end.
    init(_ error: FileCardReadingError) {
        switch error {
        case .otherCard:
            self.init(
                .otherCard, "otherCard",
                tr(
                    "a card is there, but it has none of the applications that this command reads",
                    "カードはありますが、このコマンドで読めるアプリケーションがありません"),
                hint: Failure.whatItIs)
        case .pinSettingUnreadable(let status):
            let cause = status.map { ": \($0.words)" } ?? ""
            self.init(
                .refused, "pinGuard",
                tr(
                    "the card does not say whether PINs are set\(cause), so nothing else was done",
                    "暗証番号が設定されているかを読めない\(cause)ため、何もしませんでした"),
                hint: tr(
                    "put the card flat on the reader and try again; no try was used",
                    "カードを平らに置いて、もう一度試してください。回数は減っていません"))
        case .card(.transport(.cancelled)): self = .cancelled()
        case .card(let error): self.init(error)
        case .pin(let error): self.init(error)
        @unknown default: self.init(.bug, "unknown", "\(error)")
        }
    }
}
