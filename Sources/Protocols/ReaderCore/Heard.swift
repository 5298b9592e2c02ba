// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// What a reader heard in a search that found no card it can use: the field was not empty.
@nonexhaustive
public enum Heard: Hashable, Sendable {
    /// Several cards of this kind answered at once, and none could be singled out.
    case several(Technology)
    /// A card of this kind answered the search, but could not be selected: no answer to what follows ATQA or ATQB, or an
    /// answer to a Polling without an IDm (FeliCa of generation 0).
    case unstarted(Technology)
    /// Answers of this kind were damaged in the air: a card at the edge of the field, or several at once.
    case damaged(Technology)
    /// The reader refused to look for this kind of card.
    case refused(Technology)

    /// The kind of card.
    public var technology: Technology {
        switch self {
        case .several(let technology), .unstarted(let technology), .damaged(let technology), .refused(let technology):
            technology
        }
    }

    /// The more exact, the lower.
    package var rank: Int {
        switch self {
        case .several: 0
        case .unstarted: 1
        case .damaged: 2
        case .refused: 3
        }
    }
}

extension Heard {
    private static let separator: Character = " "

    /// The text in a transcript, as `damaged felica`.
    var text: String {
        let kind =
            switch self {
            case .several: "several"
            case .unstarted: "unstarted"
            case .damaged: "damaged"
            case .refused: "refused"
            }
        return "\(kind)\(Self.separator)\(technology.rawValue)"
    }

    /// Reads the text of a transcript; `nil` for any other.
    init?(text: String) {
        let words = text.split(separator: Self.separator, omittingEmptySubsequences: false)
        guard words.count == 2, let technology = Technology(rawValue: String(words[1])) else { return nil }
        switch words[0] {
        case "several": self = .several(technology)
        case "unstarted": self = .unstarted(technology)
        case "damaged": self = .damaged(technology)
        case "refused": self = .refused(technology)
        default: return nil
        }
    }
}

extension Heard: SelfDescribing {
    /// What was heard.
    public var message: LocalizedText {
        let (english, japanese) =
            switch technology {
            case .felica: ("FeliCa", "FeliCa")
            case .typeA: ("type A", "Type A")
            case .typeB: ("type B", "Type B")
            }
        return switch self {
        case .several:
            LocalizedText("several \(english) cards answer at once", "\(japanese) のカードが複数あり、同時に応答しています")
        case .unstarted:
            LocalizedText(
                "a \(english) card answers but does not start", "\(japanese) のカードが応答しますが、通信を開始できません")
        case .damaged:
            LocalizedText(
                "a \(english) card answers, but its answers are damaged", "\(japanese) のカードの応答が壊れて届きます")
        case .refused:
            LocalizedText("the reader refuses to look for \(english) cards", "リーダーが \(japanese) のカードの検出を拒否します")
        }
    }
}
