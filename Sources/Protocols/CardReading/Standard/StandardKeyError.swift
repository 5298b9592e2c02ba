// SPDX-License-Identifier: Apache-2.0

public import CardCrypto
public import CardModel

/// Why the owner's keys did not open a service of a FeliCa Standard.
@nonexhaustive
public enum StandardKeyError: Error, Hashable, Sendable {
    /// A key is missing, of another version, or was not confirmed by the card.
    ///
    /// `node` is the node with that key. If the card did not confirm the keys, it is the area whose key is wrong where that is
    /// known, else the service; the root area stands for the system as well.
    case key(KeyRefusal, service: ServiceCode, node: NodeCode)
    /// There is no key of any service of this system; nothing was sent.
    case noKeys(SystemCode)
    /// The card does not answer the authentication.
    case silent(ServiceCode)
    /// The card has no such service.
    case absent(ServiceCode)
    /// The card is not a FeliCa Standard.
    case notStandard
    /// The system has only DES keys of 112 bits, which no public source says how to use.
    case unsupported
    /// AES is not available.
    case crypto(CryptoError)

    /// Makes the error of a service; `nil` if keys opened it.
    package init?(_ end: StandardReading.End, _ service: ServiceCode) {
        switch end {
        case .opened: return nil
        case .failed(let failure): self = .key(failure.reason, service: service, node: failure.node)
        case .silent: self = .silent(service)
        case .absent: self = .absent(service)
        case .otherCard: self = .notStandard
        case .unsupported: self = .unsupported
        case .noCipher(let error): self = .crypto(error)
        }
    }
}

extension StandardKeyError: SelfDescribing {
    /// Which key it is, and why it opened nothing.
    public var message: LocalizedText {
        switch self {
        case .key(let reason, let service, let node): Self.message(reason, service, node)
        case .noKeys(let system):
            LocalizedText("there is no key of a service of system \(system)", "システム \(system) のサービスの鍵がありません")
        case .silent(let service):
            LocalizedText(
                "the card does not answer the authentication for service \(service)",
                "サービス \(service) の認証にカードが応答しません")
        case .absent(let service):
            LocalizedText("the card has no service \(service)", "カードにサービス \(service) はありません")
        case .notStandard:
            LocalizedText("this is not a FeliCa Standard card", "FeliCa Standard のカードではありません")
        case .unsupported:
            LocalizedText(
                "the system has only DES keys of 112 bits, which are not supported",
                "このシステムは 112 ビット DES の鍵だけを持ち、対応していません")
        case .crypto(let error): error.message
        }
    }

    private static func message(_ reason: KeyRefusal, _ service: ServiceCode, _ node: NodeCode) -> LocalizedText {
        switch reason {
        case .wrongKey where node == AreaCode.root.node:
            LocalizedText(
                "the card does not confirm the key of the system or of area \(node)",
                "システムの鍵またはエリア \(node) の鍵がカードの鍵と一致しません")
        case .wrongKey where node != service.node:
            LocalizedText(
                "the card does not confirm the key of area \(node)", "エリア \(node) の鍵がカードの鍵と一致しません")
        case .wrongKey:
            LocalizedText(
                "the card does not confirm the keys for service \(service)", "サービス \(service) の鍵がカードの鍵と一致しません")
        case .keyVersion:
            LocalizedText(
                "the card has another version of the key of node \(node); the key was not used",
                "ノード \(node) の鍵のバージョンがカードと違うため、鍵は使いませんでした")
        case .keyFailedBefore:
            LocalizedText(
                "the keys for service \(service) were not used: this card did not confirm them before",
                "サービス \(service) の鍵は使いませんでした: 前回このカードで確認できなかった鍵です")
        case .noKey:
            LocalizedText(
                "there is no key of node \(node), which service \(service) needs",
                "サービス \(service) に必要なノード \(node) の鍵がありません")
        }
    }
}
