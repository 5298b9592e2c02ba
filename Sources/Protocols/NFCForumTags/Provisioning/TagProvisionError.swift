// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Why an NTAG 424 DNA was not set up, or not whole.
///
/// Each of its keys is the old or the new one, whatever the error; the same call with the journal's progress ends it.
@nonexhaustive
public enum TagProvisionError: Error, Hashable, Sendable {
    /// The tag refused a key; nothing more was sent.
    case wrongKey(UInt8)
    /// A key is not that of the interrupted run; nothing was sent.
    case otherKey(UInt8)
    /// A new key is the factory's, or the URL would be made with the factory's.
    case factoryKey(UInt8)
    /// There is no new key where the plan changes nothing else.
    case alreadySetUp
    /// Nobody can change the settings of this file any more.
    case frozen(file: UInt8)
    /// The tag was switched to LRP, which is permanent, and the plan's URL is not made for that.
    case lrpMode
    /// The plan has something that is permanent, which was not agreed to.
    case permanent
    /// It is not the tag of the interrupted run, or another one is there now.
    case otherTag
    /// The tag does not prove a new key, or tells another version.
    case keyNotVerified(UInt8)
    /// The tag has other contents or settings of this file than were sent.
    case notVerified(file: UInt8)
    /// The URL that the tag made is not valid with the new keys.
    case invalidURL
    /// The tag left, refused a command, or a key was not used.
    case tag(TagError)
}

extension TagProvisionError: SelfDescribing {
    /// Why, and which key or file.
    public var message: LocalizedText {
        switch self {
        case .wrongKey(let number):
            LocalizedText(
                "the tag does not have this key \(number); it counts wrong ones",
                "タグの鍵 \(number) は指定されたものと違います（タグは失敗を数えています）")
        case .otherKey(let number):
            LocalizedText(
                "key \(number) is not the one that the journal was begun with; nothing was sent",
                "鍵 \(number) がジャーナルを始めたときと違います（何も送っていません）")
        case .factoryKey(let number):
            LocalizedText(
                "key \(number) would be the factory's, which everybody knows", "鍵 \(number) が、誰でも知っている出荷時の鍵になります")
        case .alreadySetUp:
            LocalizedText(
                "the tag was set up before: it does not have the factory's keys and settings",
                "タグは設定済みです（出荷時の鍵と設定ではありません）")
        case .frozen(let file):
            LocalizedText(
                "the settings of file \(file) cannot be changed any more", "ファイル \(file) の設定は、もう変更できません")
        case .lrpMode:
            LocalizedText(
                "the tag is in LRP mode, which is permanent, and the plan's URL is for AES",
                "タグは LRP モード（元に戻せません）ですが、計画の URL は AES 用です")
        case .permanent:
            LocalizedText("the plan has settings that can never be undone", "計画に、元に戻せない設定が含まれています")
        case .otherTag: LocalizedText("this is not the same tag", "同じタグではありません")
        case .keyNotVerified(let number):
            LocalizedText("the tag does not prove the new key \(number)", "タグの新しい鍵 \(number) を確認できません")
        case .notVerified(let file):
            LocalizedText(
                "file \(file) has other contents or settings than were written", "ファイル \(file) の内容または設定が、書き込んだものと違います")
        case .invalidURL:
            LocalizedText(
                "the tag's URL is not valid with the new keys", "タグが作った URL が、新しい鍵では正しくありません")
        case .tag(let error): error.message
        }
    }
}
