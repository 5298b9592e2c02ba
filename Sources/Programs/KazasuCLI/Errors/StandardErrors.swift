// SPDX-License-Identifier: Apache-2.0

import Kazasu

extension CommandError {
    /// Why keys did not open a service; `nil` if they did.
    init?(_ end: StandardReading.End, _ service: ServiceCode) {
        switch end {
        case .opened: return nil
        case .failed(let failure): self.init(failure, service)
        case .silent:
            self.init(
                refusal: .silence, tr("authentication for service \(service)", "サービス \(service) の認証"))
        case .otherCard:
            self.init(
                .otherCard, "otherCard",
                tr("this is not a FeliCa Standard card", "FeliCa Standard のカードではありません"),
                hint: tr(
                    "for a FeliCa Lite-S, use kazasu lite", "FeliCa Lite-S には kazasu lite を使ってください"))
        case .unsupported:
            self.init(
                .otherCard, "unsupported",
                tr(
                    "the system has only DES keys of 112 bits, which are not supported",
                    "このシステムは 112 ビット DES の鍵だけを持ち、対応していません"),
                hint: Remedy.scan)
        case .noCipher(let error): self.init(error)
        }
    }

    private init(_ failure: KeyFailure, _ service: ServiceCode) {
        let (node, caller) = (failure.node, Caller.current)
        switch failure.reason {
        case .wrongKey:
            self.init(
                .refused, "wrongKey",
                tr("the card does not confirm the keys for service \(service)", "サービス \(service) の鍵がカードの鍵と一致しません"),
                hint: tr(
                    "check the keys of the service, the system and the areas around it",
                    "サービス、システム、上位エリアの鍵を確かめてください"))
        case .keyVersion:
            self.init(
                .refused, "keyVersion",
                tr(
                    "the card has another version of the key of node \(node); the key was not used",
                    "ノード \(node) の鍵のバージョンがカードと違うため、鍵は使いませんでした"),
                hint: Remedy.scan)
        case .keyFailedBefore:
            self.init(
                .refused, "keyFailedBefore",
                tr(
                    "the keys for service \(service) were not used: this card did not confirm them before",
                    "サービス \(service) の鍵は使いませんでした: 前回このカードで確認できなかった鍵です"),
                hint: tr(
                    "check the keys; to use them anyway, add \(caller.flag("retry"))",
                    "鍵を確かめてください。それでも使うには \(caller.flag("retry")) を付けます"))
        case .noKey:
            self.init(
                .refused, "noKey",
                tr(
                    "the key files have no key of node \(node), which service \(service) needs",
                    "サービス \(service) に必要なノード \(node) の鍵がファイルにありません"),
                hint: tr(
                    "with DES, a service needs its own key, the system's and those of all areas around it",
                    "DES では、サービスの鍵のほかに、システムとすべての上位エリアの鍵が必要です"))
        @unknown default: self = .bug("key refusal")
        }
    }
}
