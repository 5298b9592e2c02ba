// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ISO7816
package import NFCForumTags
internal import ReaderCore
internal import VirtualReader

/// Rehearses the setup of a DESFire on a virtual card with the settings, applications and keys of the real one.
package enum DESFireTwin {
    /// Sets up a virtual twin.
    ///
    /// - Parameter progress: what an interrupted run did: the twin has the new keys that were proved, and the old ones otherwise.
    /// - Returns: whether everything was read back.
    /// - Throws: ``DESFireProvisionError``, before anything was sent to the real card with a key.
    package static func rehearse(
        _ survey: DESFireSurvey, _ plan: DESFirePlan, old: DESFireKeys, new: DESFireKeys,
        resuming progress: DESFireProgress? = nil
    ) throws(DESFireProvisionError) -> Bool {
        guard let card = card(survey, DESFireTwinKeys(plan, old, new, progress), plan, progress) else { return false }
        let reader = InProcessReader(VirtualField(cards: [card]))
        let request = ActivationRequest.typeA()
        let found: PICC?
        do throws(TransportError) {
            found = try reader.activate(request)
        } catch {
            throw .card(.tag(.transport(error)))
        }
        guard let found else { return false }
        let provisioner = DESFireProvisioner(
            session: ISO7816Session(reader: reader, picc: found, request: request), plan: plan, old: old, new: new,
            resuming: progress, restart: { () throws(TagError) in card.losePower() },
            journal: { _ throws(DESFireProvisionError) in })
        try provisioner.prove(try provisioner.survey(assumesFactory: false, allowsPermanent: true))
        return try provisioner.run().isVerified
    }

    private static func card(
        _ survey: DESFireSurvey, _ keys: DESFireTwinKeys, _ plan: DESFirePlan, _ progress: DESFireProgress?
    ) -> VirtualFileCard? {
        // Seven bytes that no card has, where the real ones are not told.
        let uid = survey.version.uid ?? progress?.uid ?? [0x04, 1, 2, 3, 4, 5, 6]
        guard let identity = TypeAIdentity(uid: uid, atqa: 0x0344, sak: 0x20),
            let master = application(survey.card, keys, survey)
        else { return nil }
        let generations: [VirtualDESFire.Generation] = [.d40, .ev1, .ev2, .ev3]
        var card = VirtualDESFire(
            generations[min(survey.version.generation, generations.count - 1)], uid: uid, card: master)
        card.freeMemory = survey.freeMemory ?? 4096
        card.isUIDHidden = survey.version.uid == nil
        for (_, found) in survey.applications.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard var application = application(found, keys, survey) else { return nil }
            let files = survey.isClosed(found.id) ? plan.plannedFiles(found.id) : found.files
            for file in files { application.files[file.number] = self.file(file) }
            card.applications.append(application)
        }
        return VirtualFileCard(
            .typeA(identity, ats: [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]),
            files: VirtualFileTree(applets: [card]))
    }

    private static func application(
        _ found: DESFireApplication, _ keys: DESFireTwinKeys, _ survey: DESFireSurvey
    ) -> VirtualDESFire.Application? {
        let id = found.id
        let isCard = id == .card
        let type = found.keyType ?? keys.type(of: id)
        let count = isCard ? 1 : found.keyCount ?? keys.count(of: id)
        let kinds: [DESFireKeyType: DESFireChipKey.Kind] = [.des: .des, .threeKeyTripleDES: .three, .aes: .aes]
        guard let kind = kinds[type] else { return nil }
        let list = (0..<count).map { number in
            DESFireChipKey(
                kind,
                keys.bytes(UInt8(truncatingIfNeeded: number), of: id, type)
                    ?? [UInt8](repeating: 0, count: type.keyLength))
        }
        // What is closed without a key was closed by the plan, or by the owner.
        let settings = found.settings ?? (isCard ? 0x09 : keys.settings(of: id) ?? 0x09)
        let number = id.rawValue
        let bytes = [16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        var application = VirtualDESFire.Application(
            id: bytes, settings: settings, keys: list, versions: found.keyVersions)
        application.hasFileNames = keys.hasFileNames(id)
        return application
    }

    private static func file(_ file: DESFireFile) -> VirtualDESFire.File {
        let kinds: [DESFireFileType: VirtualDESFire.File.Kind] = [
            .standard: .standard, .backup: .backup, .value: .value, .linear: .linear, .cyclic: .cyclic,
        ]
        var twin = VirtualDESFire.File(
            kind: kinds[file.type] ?? .standard, mode: file.mode.rawValue,
            rights: [
                file.readWrite.nibble << 4 | file.change.nibble, file.read.nibble << 4 | file.write.nibble,
            ])
        switch file.extent {
        case .bytes(let size): twin.bytes = [UInt8](repeating: 0, count: size)
        case .value(let lower, let upper, let limited):
            (twin.lower, twin.upper, twin.value, twin.limitedCredit) = (lower, upper, lower, limited)
        case .records(let size, let maximum, let count):
            (twin.recordSize, twin.maxRecords) = (size, maximum)
            twin.records = [[UInt8]](repeating: [UInt8](repeating: 0, count: size), count: count)
        @unknown default: break
        }
        return twin
    }
}
