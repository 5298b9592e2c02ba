// SPDX-License-Identifier: Apache-2.0

internal import CardModel
package import FeliCa
internal import ReaderCore

extension CardSession {
    /// Asks a phone for its model, if it is one whose chip is known to answer.
    ///
    /// Only this command is sent, and no Polling, which could open the wallet. A phone that does not answer says nothing
    /// about whether it is still there; the next command does.
    ///
    /// - Returns: `nil` if the card is not such a phone, or gave no usable answer.
    package func phoneModel() -> PhoneModel? {
        guard PhoneModel.isPhone(target.pmm),
            ICProfile.of(target.pmm)?.support(of: GetContainerIssueInformation.code) == .answered
        else { return nil }
        let felica = FeliCaSystem(channel: reader, idm: target.idm, pmm: target.pmm)
        for _ in 0..<2 {
            do throws(FeliCaError) {
                return PhoneModel(try felica.getContainerIssueInformation())
            } catch {
                switch error {
                case .transport(.noAnswer), .transport(.corrupted), .malformed: continue
                default: return nil
                }
            }
        }
        return nil
    }
}
