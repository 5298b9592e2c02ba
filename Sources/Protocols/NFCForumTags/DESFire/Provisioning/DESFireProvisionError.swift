// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why a DESFire was not set up, or not whole.
///
/// Each of its keys is the old or the new one, whatever the error; the same call with the journal's progress ends it.
@nonexhaustive
public enum DESFireProvisionError: Error, Hashable, Sendable {
    /// The card refused a key; nothing more was sent.
    case wrongKey(DESFireKeyID)
    /// A key is not that of the interrupted run; nothing was sent.
    case otherKey(DESFireKeyID)
    /// A new key is the factory's, or a file would be protected by the factory's.
    case factoryKey(DESFireKeyID)
    /// A new key is of no application in the plan, or has the wrong length.
    case unusableKey(DESFireKeyID)
    /// The card has other keys or settings than those of the factory, or this application, and its keys were not given.
    case alreadySetUp(DESFireApplicationID)
    /// The application's settings or keys cannot be changed any more.
    case frozen(DESFireApplicationID)
    /// The plan has something that is permanent, which was not agreed to.
    case permanent
    /// The card has less free memory than the files need, in bytes.
    case noRoom(needed: Int, free: Int)
    /// This generation of the card does not have what the plan asks for.
    case tooOld
    /// It is not the card of the interrupted run, or another one is there now.
    case otherCard
    /// The card does not prove a new key, or tells another version.
    case keyNotVerified(DESFireKeyID)
    /// The application has other settings than were sent.
    case settingsNotVerified(DESFireApplicationID)
    /// The file has other contents or settings than were sent.
    case notVerified(DESFireFileID)
    /// The card left or refused a command.
    case card(DESFireError)
}

extension DESFireProvisionError: SelfDescribing {
    /// Why, and which key, application or file.
    public var message: LocalizedText {
        switch self {
        case .wrongKey(let key):
            LocalizedText("the card does not have this key \(key)", "カードの鍵 \(key) は指定されたものと違います")
        case .otherKey(let key):
            LocalizedText(
                "key \(key) is not the one that the journal was begun with; nothing was sent",
                "鍵 \(key) がジャーナルを始めたときと違います（何も送っていません）")
        case .factoryKey(let key):
            LocalizedText("key \(key) would be the factory's, which everybody knows", "鍵 \(key) が、誰でも知っている出荷時の鍵になります")
        case .unusableKey(let key):
            LocalizedText(
                "the plan has no such key \(key), or its keys have another length", "計画に鍵 \(key) がないか、鍵の長さが違います")
        case .alreadySetUp(.card):
            LocalizedText(
                "the card was set up before: it does not have the factory's key and settings",
                "カードは設定済みです（出荷時の鍵と設定ではありません）")
        case .alreadySetUp(let id):
            LocalizedText("the card already has another application \(id)", "カードには別のアプリケーション \(id) がすでにあります")
        case .frozen(.card):
            LocalizedText("the card's key or settings cannot be changed any more", "カードの鍵または設定は、もう変更できません")
        case .frozen(let id):
            LocalizedText(
                "keys or settings of \(id) cannot be changed any more", "\(id) の鍵または設定は、もう変更できません")
        case .permanent:
            LocalizedText("the plan has settings that can never be undone", "計画に、元に戻せない設定が含まれています")
        case .noRoom(let needed, let free):
            LocalizedText(
                "the files need \(needed) bytes, and \(free) are free", "ファイルには \(needed) バイト必要ですが、空きは \(free) バイトです")
        case .tooOld:
            LocalizedText(
                "this generation of DESFire does not have what the plan asks for", "この世代の DESFire は計画の機能に対応していません")
        case .otherCard: LocalizedText("this is not the same card", "同じカードではありません")
        case .keyNotVerified(let key):
            LocalizedText("the card does not prove the new key \(key)", "カードの新しい鍵 \(key) を確認できません")
        case .settingsNotVerified(let id):
            LocalizedText("\(id) has other settings than were written", "\(id) の設定が、書き込んだものと違います")
        case .notVerified(let file):
            LocalizedText("\(file) has other contents or settings than were written", "\(file) の内容または設定が、書き込んだものと違います")
        case .card(let error): error.message
        }
    }
}
