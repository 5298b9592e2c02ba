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

    private init(_ error: StandardKeyError, _ reason: KeyRefusal) {
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
