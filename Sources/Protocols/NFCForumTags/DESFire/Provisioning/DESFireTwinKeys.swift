// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers

/// The keys that a rehearsal gives a virtual card: the new ones that were proved, and the old ones otherwise.
package struct DESFireTwinKeys {
    private let plan: DESFirePlan
    private let old, new: DESFireKeys
    private let steps: Set<DESFireStep>

    package init(_ plan: DESFirePlan, _ old: DESFireKeys, _ new: DESFireKeys, _ progress: DESFireProgress?) {
        (self.plan, self.old, self.new, steps) = (plan, old, new, progress?.steps ?? [])
    }

    private func planned(_ id: DESFireApplicationID) -> DESFirePlan.Application? {
        plan.applications.first { $0.id == id }
    }

    /// The type of an application's keys that the card does not show.
    package func type(of id: DESFireApplicationID) -> DESFireKeyType {
        if let planned = planned(id) { return planned.keyType }
        let keys = steps.contains(.keyProved(DESFireKeyID(id, 0))) ? new : old
        guard let entry = keys.entries[id]?[0], let secret = entry.secret else { return id == .card ? .des : .aes }
        if secret.count == DESFireKeyType.threeKeyTripleDES.keyLength { return .threeKeyTripleDES }
        return id == .card && entry.version == nil ? .des : .aes
    }

    /// The number of its keys.
    package func count(of id: DESFireApplicationID) -> Int {
        planned(id)?.keyCount ?? Int(old.numbers(of: id).last ?? 0) + 1
    }

    /// The settings that it has in the end.
    package func settings(of id: DESFireApplicationID) -> UInt8? { planned(id)?.settings }

    package func hasFileNames(_ id: DESFireApplicationID) -> Bool { planned(id)?.isoID != nil }

    /// A key; `nil` for the factory's, or if it has another length.
    package func bytes(_ number: UInt8, of id: DESFireApplicationID, _ type: DESFireKeyType) -> [UInt8]? {
        let isNew = steps.contains(.keyProved(DESFireKeyID(id, number)))
        let isMade = steps.contains(.application(id))
        let key = isNew ? new.key(number, of: id, type) : isMade ? nil : old.key(number, of: id, type)
        guard let found = try? key?.key(type) else { return nil }
        return unsafe found.secret.withUnsafeBytes { unsafe Array($0) }
    }
}

extension DESFirePlan {
    /// The files of an application, as a card shows them after the setup.
    package func plannedFiles(_ id: DESFireApplicationID) -> [DESFireFile] {
        (applications.first { $0.id == id }?.files ?? []).compactMap { file in
            let types: [UInt8: UInt8] = [0xCD: 0, 0xCB: 1, 0xCC: 2, 0xC1: 3, 0xC0: 4]
            let creation = file.creation
            let settings = Array(creation.data.dropFirst(file.isoID == nil ? 1 : 3))
            // A record file says how many records it has.
            let rest: [UInt8] = [0xC1, 0xC0].contains(creation.command.code) ? [0, 0, 0] : []
            return DESFireFile(file.number, [types[creation.command.code] ?? 0] + settings + rest)
        }
    }
}
