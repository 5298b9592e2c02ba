// SPDX-License-Identifier: Apache-2.0

public import CardModel
public import NFCTransport

extension CardIdentity {
    /// What a reader learnt of a card when it selected it.
    public init(_ picc: PICC) {
        switch picc {
        case .felica(let target): self.init(technology: .felica, idm: target.idm, pmm: target.pmm)
        case .typeA(let target):
            self = .typeA(uid: target.uid, atqa: target.atqa, sak: target.sak, ats: target.ats)
        case .typeB(let target):
            self = .typeB(
                pupi: target.pupi, applicationData: target.applicationData, protocolInfo: target.protocolInfo)
        @unknown default: self.init(technology: picc.technology)
        }
    }
}
