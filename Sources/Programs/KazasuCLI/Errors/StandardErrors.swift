// SPDX-License-Identifier: Apache-2.0

package import Kazasu

extension CommandError {
    /// Why keys did not open a service; `nil` if they did.
    package init?(_ end: StandardReading.End, _ service: ServiceCode) {
        guard let error = StandardKeyError(end, service) else { return nil }
        self.init(error)
    }

    /// Why keys did not open a service.
    package init(_ error: StandardKeyError) {
        switch error {
        case .key(let reason, _, _): self.init(error, reason)
        case .noKeys: self.init(.keysNone, error)
        case .silent, .absent: self.init(.keysSilent, error)
        case .notStandard: self.init(.keysNotStandard, error)
        case .unsupported: self.init(.keysUnsupported, error)
        case .crypto(let error): self.init(error)
        @unknown default: self = .bug("error of keys")
        }
    }

    private init(_ error: some Error & SelfDescribing, _ reason: KeyRefusal) {
        let code: Code =
            switch reason {
            case .wrongKey: .keysWrong
            case .keyFailedBefore: .keysFailedBefore
            case .noKey: .keysIncomplete
            default: .keysRefused
            }
        self.init(code, error)
        self.reason = reason.rawValue
    }
}

extension CommandError {
    /// Why blocks were not written, or not surely.
    package init(_ error: BlockWriteError) {
        switch error {
        case .notAllowed: self.init(.writeNotAllowed, error)
        case .notNewest: self.init(.writeNotNewest, error)
        case .tooManyBlocks: self.init(.writeTooManyBlocks, error)
        case .noSuchBlock: self.init(.writeNoSuchBlock, error)
        case .purseRange: self.init(.writePurseRange, error)
        case .key(let error): self.init(error)
        case .refused, .unanswered: self.init(.writeRefused, error)
        case .changed: self.init(.writeChanged, error)
        case .notReadBack, .notVerified: self.init(.writeNotReadBack, error)
        case .unconfirmed: self.init(.writeUnconfirmed, error)
        case .reading(let error): self.init(error)
        @unknown default: self = .bug("error of a write")
        }
    }
}

extension CommandError {
    /// Why keys were not changed, or not all of them.
    package init(_ error: KeyChangeError) {
        switch error {
        case .nothingToChange: self.init(.keyChangeNothingToChange, error)
        case .weakKey: self.init(.keyChangeWeakKey, error)
        case .sameVersion: self.init(.keyChangeSameVersion, error)
        case .unsupported: self.init(.keyChangeUnsupported, error)
        case .noSuchNode: self.init(.keyChangeNoSuchNode, error)
        case .key(_, let reason): self.init(error, reason)
        case .standard(let error): self.init(error)
        case .silent, .refused: self.init(.keyChangeSilent, error)
        case .notVerified: self.init(.keyChangeNotVerified, error)
        case .otherPlan: self.init(.keyChangeOtherPlan, error)
        case .locked: self.init(.issueLocked, error)
        case .tooFewBlocks: self.init(.issueTooFewBlocks, error)
        case .notRegistered: self.init(.issueNotRegistered, error)
        case .notKept: self.init(.keyChangeNotVerified, error)
        case .data(let error): self.init(error)
        case .keptPower: self.init(.keyChangeKeptPower, error)
        case .reading(let error): self.init(error)
        @unknown default: self = .bug("error of a key change")
        }
    }
}
