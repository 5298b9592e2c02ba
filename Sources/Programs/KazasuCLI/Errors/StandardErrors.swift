// SPDX-License-Identifier: Apache-2.0

import Kazasu

extension CommandError {
    /// Why keys did not open a service; `nil` if they did.
    init?(_ end: StandardReading.End, _ service: ServiceCode) {
        guard let error = StandardKeyError(end, service) else { return nil }
        self.init(error)
    }

    /// Why keys did not open a service.
    init(_ error: StandardKeyError) {
        switch error {
        case .key(let reason, _, _): self.init(error, reason)
        case .noKeys:
            self.init(
                .refused, KeyRefusal.noKey.rawValue, error,
                hint: tr("add a file with keys of this system", "このシステムの鍵のファイルを追加してください"))
        case .silent, .absent: self.init(.refused, "refused", error, hint: Remedy.scan)
        case .notStandard:
            let lite = Caller.current.command("lite info")
            self.init(
                .otherCard, "otherCard", error,
                hint: tr("\(lite) reads a FeliCa Lite-S", "FeliCa Lite-S は \(lite) で読めます"))
        case .unsupported: self.init(.otherCard, "unsupported", error, hint: Remedy.scan)
        case .crypto(let error): self.init(error)
        @unknown default: self = .bug("error of keys")
        }
    }

    private init(_ error: some Error & SelfDescribing, _ reason: KeyRefusal) {
        let caller = Caller.current
        let hint =
            switch reason {
            case .wrongKey:
                tr(
                    "check the keys of the service, the system and the areas around it",
                    "サービス、システム、上位エリアの鍵を確かめてください")
            case .keyFailedBefore:
                tr(
                    "check the keys; to use them anyway, add \(caller.flag("retry"))",
                    "鍵を確かめてください。それでも使うには \(caller.flag("retry")) を付けます")
            case .noKey:
                tr(
                    "with DES, a service needs its own key, the system's and those of all areas around it",
                    "DES では、サービスの鍵のほかに、システムとすべての上位エリアの鍵が必要です")
            default: Remedy.scan
            }
        self.init(.refused, reason.rawValue, error, hint: hint)
    }
}

extension CommandError {
    /// Why blocks were not written, or not surely.
    init(_ error: BlockWriteError) {
        switch error {
        case .notAllowed: self.init(.refused, "readOnly", error, hint: Remedy.scan)
        case .notNewest:
            self.init(.usage, "usage", error, hint: tr("use block 0", "ブロック 0 を指定してください"))
        case .tooManyBlocks:
            self.init(.usage, "usage", error, hint: tr("write them in several commands", "何回かに分けて書き込んでください"))
        case .noSuchBlock:
            self.init(
                .refused, "noSuchBlock", error,
                hint: tr("blocks are counted from 0", "ブロックは 0 から数えます"))
        case .purseRange:
            self.init(.refused, "purseRange", error, hint: tr("use a smaller amount", "額を小さくしてください"))
        case .key(let error): self.init(error)
        case .refused, .unanswered: self.init(.refused, "refused", error, hint: Remedy.scan)
        case .changed:
            self.init(
                .interruptedReading, "notVerified", error,
                hint: tr("try again, with no other program on the card", "他のプログラムがカードを使っていないことを確かめて、やり直してください"))
        case .notReadBack, .notVerified:
            self.init(
                .interruptedReading, "notVerified", error,
                hint: tr("read the blocks before you write again", "書き直す前に、ブロックを読んで確かめてください"))
        case .unconfirmed:
            self.init(
                .interruptedReading, "unconfirmed", error,
                hint: tr(
                    "read the blocks before you write again: they may have been written",
                    "書き込まれた可能性があります。書き直す前に、ブロックを読んで確かめてください"))
        case .reading(let error): self.init(error)
        @unknown default: self = .bug("error of a write")
        }
    }
}

extension CommandError {
    /// Why keys were not changed, or not all of them.
    init(_ error: KeyChangeError) {
        switch error {
        case .nothingToChange:
            self.init(.usage, "usage", error, hint: tr("check both files", "両方のファイルを確かめてください"))
        case .weakKey:
            self.init(.usage, "weakKey", error, hint: tr("use a random key", "乱数の鍵を使ってください"))
        case .sameVersion:
            let info = Caller.current.command("standard info")
            self.init(
                .usage, "sameVersion", error,
                hint: tr(
                    "a line is SYSTEM NODE KEY VERSION; \(info) shows the present versions",
                    "行の形式は システム ノード 鍵 バージョン です。現在のバージョンは \(info) で分かります"))
        case .unsupported:
            self.init(
                .otherCard, "unsupported", error,
                hint: tr("leave it out of the new keys", "新しい鍵のファイルから除いてください"))
        case .noSuchNode: self.init(.refused, "refused", error, hint: Remedy.scan)
        case .key(_, let reason): self.init(error, reason)
        case .standard(let error): self.init(error)
        case .silent, .refused: self.init(.refused, "refused", error, hint: Remedy.scan)
        case .notVerified:
            let info = Caller.current.command("standard info")
            self.init(
                .interruptedReading, "notVerified", error,
                hint: tr("\(info) shows which version the card has", "カードのバージョンは \(info) で分かります"))
        case .otherPlan:
            self.init(
                .refused, KeyRefusal.wrongKey.rawValue, error,
                hint: tr("use the files that the change began with", "変更を始めたときのファイルを指定してください"))
        case .keptPower:
            self.init(
                .interruptedReading, "keptPower", error,
                hint: tr("lift the card when asked to, and put it back", "指示が出たらカードを離し、もう一度置いてください"))
        case .reading(let error): self.init(error)
        @unknown default: self = .bug("error of a key change")
        }
    }
}
