// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import FeliCa

/// Why keys of a FeliCa Standard were not changed or not all of them, or why the card was not issued.
///
/// Every key of the card is the old or the new one, whatever the error; the version that the card tells shows which.
@nonexhaustive
public enum KeyChangeError: Error, Hashable, Sendable {
    /// All new keys are the old ones.
    case nothingToChange
    /// A new key is zeros, or weak in DES.
    case weakKey(NodeCode)
    /// A new key has no version of its own, or the one that the card has.
    case sameVersion(NodeCode)
    /// No public source says how this key is changed: a key of AES, or of the root area.
    case unsupported(NodeCode)
    /// The card has no such node.
    case noSuchNode(NodeCode)
    /// A key is missing, of another version, or was not confirmed by the card.
    case key(NodeCode, KeyRefusal)
    /// The card cannot be opened with keys.
    case standard(StandardKeyError)
    /// The card does not answer a command about this node; its key is the old one.
    case silent(NodeCode)
    /// The card refused to change this key; it is the old one.
    case refused(NodeCode, StatusFlags)
    /// The card does not prove the new key, or tells another version.
    case notVerified(NodeCode)
    /// The new keys change other nodes than the interrupted change did.
    case otherPlan
    /// The card is issued already, or otherwise than the profile says; nothing resets it.
    case locked
    /// The blank card has too few blocks for the profile.
    case tooFewBlocks(needed: Int, free: Int)
    /// The card refused or did not answer the registration of a node (the system for the whole), and does not have it.
    case notRegistered(NodeCode, StatusFlags?)
    /// The card does not have a node, a key's version, an issue number or the layout that was registered.
    case notKept(NodeCode)
    /// Data of the profile could not be written.
    case data(BlockWriteError)
    /// The card kept its power, so that nothing could be proved.
    case keptPower
    /// Reading ended: the card left, or the reader failed.
    case reading(ReadingError)
}

extension KeyChangeError: SelfDescribing {
    /// Why, and which key.
    public var message: LocalizedText {
        switch self {
        case .nothingToChange: LocalizedText("no new key differs from the old one", "変更する鍵がありません（新旧の鍵が同じです）")
        case .weakKey(let node):
            LocalizedText(
                "the new key of node \(node) is zeros or a weak DES key", "ノード \(node) の新しい鍵は、ゼロまたは DES の弱い鍵です")
        case .sameVersion(let node):
            LocalizedText(
                "the new key of node \(node) needs a version other than the old one's",
                "ノード \(node) の新しい鍵には、元と違うバージョンが必要です")
        case .unsupported(let node):
            LocalizedText(
                "how the key of node \(node) is changed is not public", "ノード \(node) の鍵を変更する方法は公開されていません")
        case .noSuchNode(let node): LocalizedText("the card has no node \(node)", "カードにノード \(node) はありません")
        case .key(let node, let reason): Self.message(reason, node)
        case .standard(let error): error.message
        case .silent(let node):
            LocalizedText(
                "the card does not answer commands about node \(node); its key was not changed",
                "ノード \(node) のコマンドにカードが応答しません（鍵は元のままです）")
        case .refused(let node, let flags):
            flags.refusal(of: LocalizedText("the key of node \(node)", "ノード \(node) の鍵の変更"))
        case .notVerified(let node):
            LocalizedText(
                "the card does not prove the new key of node \(node)", "ノード \(node) の新しい鍵をカードで確認できません")
        case .otherPlan:
            LocalizedText(
                "the new keys are not those of the interrupted change", "新しい鍵が、中断した変更のものと違います")
        case .locked:
            LocalizedText(
                "the card is issued already; only a blank card (system FFFF) can be issued",
                "発行済みのカードです。発行できるのは未発行のカード（システム FFFF）だけです")
        case .tooFewBlocks(let needed, let free):
            LocalizedText(
                "the profile needs \(needed) blocks; the card has \(free)",
                "プロファイルには \(needed) ブロック必要ですが、カードの空きは \(free) ブロックです")
        case .notRegistered(let node, let flags?):
            flags.refusal(of: LocalizedText("the registration of node \(node)", "ノード \(node) の登録"))
        case .notRegistered(let node, nil):
            LocalizedText(
                "the card does not answer the registration of node \(node)", "ノード \(node) の登録にカードが応答しません")
        case .notKept(let node):
            LocalizedText(
                "node \(node) of the card is not as it was registered", "カードのノード \(node) が登録した内容と違います")
        case .data(let error): error.message
        case .keptPower:
            LocalizedText("the card kept its power; the new key was not proved", "カードの電源が切れなかったため、新しい鍵を確認できません")
        case .reading(let error): error.message
        }
    }

    private static func message(_ reason: KeyRefusal, _ node: NodeCode) -> LocalizedText {
        switch reason {
        case .wrongKey:
            LocalizedText(
                "the card does not confirm the keys for node \(node)", "ノード \(node) を開く鍵がカードの鍵と一致しません")
        case .keyVersion:
            LocalizedText(
                "the card has another version of the key of node \(node); the key was not used",
                "ノード \(node) の鍵のバージョンがカードと違うため、鍵は使いませんでした")
        case .keyFailedBefore:
            LocalizedText(
                "the keys for node \(node) were not used: this card did not confirm them before",
                "ノード \(node) を開く鍵は使いませんでした: 前回このカードで確認できなかった鍵です")
        case .noKey: LocalizedText("there is no key of node \(node)", "ノード \(node) の鍵がありません")
        }
    }
}
