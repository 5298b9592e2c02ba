// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why a dump cannot be written in a format.
@nonexhaustive
public enum DumpWritingError: Error, Hashable, Sendable {
    /// The format holds FeliCa cards only, and this is none.
    case notFeliCa(Technology)
    /// The format needs the card's IDm, which the dump does not know.
    case noIDm
    /// The format needs the card's PMm, which the dump does not know.
    case noPMm
    /// The format keeps one system for each code, and the dump has two with this one.
    case systemTwice(SystemCode)
    /// The format keeps one service for each code, and a system of the dump has two with this one.
    case serviceTwice(SystemCode, ServiceCode)

    /// The reason for people; names no IDm.
    public var text: LocalizedText {
        switch self {
        case .notFeliCa:
            LocalizedText("the format holds FeliCa cards only", "この形式は FeliCa カードだけを保存できます")
        case .noIDm:
            LocalizedText("the format needs the IDm, which is not known", "この形式には IDm が必要ですが、IDm が分かりません")
        case .noPMm:
            LocalizedText("the format needs the PMm, which is not known", "この形式には PMm が必要ですが、PMm が分かりません")
        case .systemTwice(let system):
            LocalizedText(
                "the format holds one system with the code \(system), the card has two",
                "この形式ではシステム \(system) を一つしか保存できませんが、カードには二つあります")
        case .serviceTwice(let system, let service):
            LocalizedText(
                "the format holds one service \(service) in system \(system), the dump has two",
                "この形式ではシステム \(system) のサービス \(service) を一つしか保存できませんが、ダンプには二つあります")
        }
    }
}
