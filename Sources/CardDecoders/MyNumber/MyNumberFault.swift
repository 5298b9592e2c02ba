// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// What is wrong with a file of a My Number card; it carries no value of the card.
public struct MyNumberFault: Hashable, Sendable {
    /// The file.
    public let file: MyNumberFile
    /// What is wrong.
    public let reason: Reason

    /// What can be wrong.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// It does not hold what it should.
        case notWhatItShouldBe
        /// The item with this tag is not there, or not what it should be.
        case item(String)
        /// The card refused to read it, with this status word when it told one.
        case refused(UInt16?)
        /// The card left before it was read to its end.
        case lost
    }

    /// The sentence for people.
    public var message: LocalizedText {
        let (english, japanese) = (file.name.english, file.name.japanese)
        return switch reason {
        case .notWhatItShouldBe:
            LocalizedText("\(english): the bytes are not what they should be", "\(japanese): 内容が正しくありません")
        case .item(let tag):
            LocalizedText(
                "\(english): item \(tag) is missing or wrong", "\(japanese): 項目 \(tag) がないか、正しくありません")
        case .refused(let status):
            LocalizedText(
                "\(english): the card refused" + (status.map { ": status \(Hex.encode($0, digits: 4))" } ?? ""),
                "\(japanese): カードが拒否しました" + (status.map { ": ステータス \(Hex.encode($0, digits: 4))" } ?? ""))
        case .lost:
            LocalizedText("\(english): the card left before it was read", "\(japanese): 読み終わる前にカードが離れました")
        }
    }
}
