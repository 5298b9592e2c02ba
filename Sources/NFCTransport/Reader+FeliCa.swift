// SPDX-License-Identifier: Apache-2.0

public import CardModel

extension Reader {
    /// Looks once for a FeliCa card that has one of these systems, tried in the caller's order; the first that answers
    /// wins and is selected.
    ///
    /// Each code costs one Polling at the reader's first bit rate; every card answers at 212 kbit/s, most at 424. The
    /// second bit rate is tried with all codes only when none answered. An answer to a code that is not the first has the
    /// codes before it polled for once more, since the card may have come meanwhile.
    ///
    /// - Parameters:
    ///   - systems: the system codes; ``CardModel/SystemCode/any`` takes whatever system the card names first.
    ///   - requestCode: 0 for nothing more, 1 for the system code, 2 for the communication performance.
    ///   - timeSlots: 0, 1, 3, 7 or 15.
    ///   - bitRates: the speeds to try, in this order; `nil` for all that the reader has.
    /// - Returns: the card's answer, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    public func activateFeliCa(
        systems: [SystemCode], requestCode: UInt8 = 0, timeSlots: UInt8 = 0, bitRates: [FeliCaBitRate]? = nil
    ) throws(TransportError) -> FeliCaTarget? {
        let requests = (bitRates ?? information.feliCaBitRates).flatMap { bitRate in
            systems.map {
                ActivationRequest.felica($0, requestCode: requestCode, timeSlots: timeSlots, bitRate: bitRate)
            }
        }
        guard case .felica(let target)? = try firstAnswer(to: requests)?.picc else { return nil }
        return target
    }

    /// Polls every one of these systems at every bit rate of the reader and returns what answered, in the order of
    /// the answers.
    ///
    /// One card answers at both speeds: the same IDm is listed once, with the speed that it answered first. The
    /// systems of one card differ in the IDm's first four bits and are listed each.
    ///
    /// - Parameters:
    ///   - systems: the system codes, in the order in which they are polled.
    ///   - requestCode: as in ``activateFeliCa(systems:requestCode:timeSlots:bitRates:)``.
    /// - Throws: ``TransportError`` when the reader failed or work was cancelled.
    public func feliCaTargets(
        systems: [SystemCode], requestCode: UInt8 = 0
    ) throws(TransportError) -> [FeliCaTarget] {
        var targets: [FeliCaTarget] = []
        for bitRate in information.feliCaBitRates {
            for system in systems {
                let request = ActivationRequest.felica(system, requestCode: requestCode, bitRate: bitRate)
                guard case .felica(let target)? = try activate(request) else { continue }
                if !targets.contains(where: { $0.idm == target.idm }) { targets.append(target) }
            }
        }
        return targets
    }
}
