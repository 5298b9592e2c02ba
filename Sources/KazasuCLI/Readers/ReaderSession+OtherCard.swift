// SPDX-License-Identifier: Apache-2.0

import CardModel
import CardReading
import NFCTransport

extension ReaderSession {
    /// Why no card came: perhaps one of another kind lies there, which is not what "no card" says.
    ///
    /// - Parameter wanted: the kinds that were looked for in vain.
    func nothingCame(_ wanted: [Technology]) -> Failure {
        let others = AnyCardFinder.usualOrder.filter { !wanted.contains($0) }
        let finder = AnyCardFinder(reader: reader, cancellation: context.cancellation)
        // The reader has just looked for cards; if it cannot look for these, nothing more is known.
        let found = (try? finder.find(others, timeout: .zero))?.first
        if context.cancellation.isCancelled { return .cancelled() }
        return found.map { otherCard($0) } ?? .noCard()
    }

    /// The card that is there is not one that the command reads: named as far as it can be.
    func otherCard(_ picc: PICC) -> Failure {
        let kinds = (try? recognize([picc], askingApplications: true))?.flatMap(\.kinds) ?? []
        let name = Failure.kind(of: picc, names: kinds.map { $0.kind.name[Language.current] })
        return Failure(
            .otherCard, "otherCard",
            tr(
                "a card is there (\(name)), but not one that this command reads",
                "カードはあります（\(name)）が、このコマンドで読める種類ではありません"),
            hint: Failure.whatItIs)
    }
}
