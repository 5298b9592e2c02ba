// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension PICC {
    /// The same as documents have it.
    public var identity: CardIdentity {
        switch self {
        case .felica(let target):
            CardIdentity(technology: .felica, idm: target.idm, pmm: target.pmm, bitRate: target.bitRate.rawValue)
        case .typeA(let target):
            .typeA(uid: target.uid.isEmpty ? nil : target.uid, atqa: target.atqa, sak: target.sak, ats: target.ats)
        case .typeB(let target):
            .typeB(pupi: target.pupi, applicationData: target.applicationData, protocolInfo: target.protocolInfo)
        }
    }
}
