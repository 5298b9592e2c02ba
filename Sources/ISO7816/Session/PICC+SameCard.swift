// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

extension PICC {
    /// Whether a card that was activated now may be the one that was activated before. UIDs that begin with 08 and the
    /// PUPI of most cards are random at each activation, so they tell nothing.
    func mayBeSameCard(as other: PICC) -> Bool {
        switch (self, other) {
        case (.typeA(let now), .typeA(let before)):
            let isRandom = [now.uid, before.uid].allSatisfy { $0.count == 4 && $0.first == 0x08 }
            return (isRandom || now.uid == before.uid) && now.ats == before.ats && now.sak == before.sak
        case (.typeB(let now), .typeB(let before)):
            return now.applicationData == before.applicationData && now.protocolInfo == before.protocolInfo
        default: return self == other
        }
    }
}
