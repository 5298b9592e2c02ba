// SPDX-License-Identifier: Apache-2.0

package import Kazasu

extension CommandError {
    /// Why an NTAG 424 DNA was not set up, or not whole.
    package init(_ error: TagProvisionError) {
        switch error {
        case .wrongKey: self.init(.setupWrongKey, error)
        case .otherKey: self.init(.setupOtherKey, error)
        case .factoryKey: self.init(.setupFactoryKey, error)
        case .alreadySetUp: self.init(.setupAlreadySetUp, error)
        case .frozen: self.init(.setupFrozen, error)
        case .lrpMode: self.init(.setupLRP, error)
        case .permanent: self.init(.setupPermanent, error)
        case .otherTag: self.init(.setupOtherTag, error)
        case .keyNotVerified, .notVerified, .invalidURL: self.init(.setupNotVerified, error)
        case .tag(let error): self.init(error)
        @unknown default: self = .bug("error of a setup")
        }
    }

    /// Why a DESFire was not set up, or not whole.
    package init(_ error: DESFireProvisionError) {
        switch error {
        case .wrongKey: self.init(.setupWrongKey, error)
        case .otherKey: self.init(.setupOtherKey, error)
        case .factoryKey: self.init(.setupFactoryKey, error)
        case .unusableKey: self.init(.desfireKeyLength, error)
        case .alreadySetUp: self.init(.setupAlreadySetUp, error)
        case .frozen, .tooOld: self.init(.setupFrozen, error)
        case .permanent: self.init(.setupPermanent, error)
        case .noRoom: self.init(.desfireOutOfRange, error)
        case .otherCard: self.init(.setupOtherTag, error)
        case .keyNotVerified, .settingsNotVerified, .notVerified: self.init(.setupNotVerified, error)
        case .card(let error): self.init(error)
        @unknown default: self = .bug("error of a setup")
        }
    }
}
