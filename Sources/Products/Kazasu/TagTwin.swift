// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ISO7816
package import NFCForumTags
internal import ReaderCore
internal import VirtualReader

/// Rehearses the setup of an NTAG 424 DNA on a virtual tag with the settings, versions and keys of the real one.
package enum TagTwin {
    /// Sets up a virtual twin.
    ///
    /// - Parameter progress: what an interrupted run did: the twin has the new keys that were proved, and the old ones otherwise.
    /// - Returns: whether the twin then has exactly the new keys, and everything was read back.
    /// - Throws: ``TagProvisionError``, before anything was sent to the real tag with a key.
    package static func rehearse(
        _ survey: TagSurvey, _ plan: TagPlan, old: TagKeys, new: TagKeys, resuming progress: TagProgress? = nil
    ) throws(TagProvisionError) -> Bool {
        guard let card = card(survey, old, new, progress) else { return false }
        let reader = InProcessReader(VirtualField(cards: [card]))
        let request = ActivationRequest.typeA()
        let found: PICC?
        do throws(TransportError) {
            found = try reader.activate(request)
        } catch {
            throw .tag(.transport(error))
        }
        guard let found else { return false }
        let provisioner = TagProvisioner(
            session: ISO7816Session(reader: reader, picc: found, request: request), plan: plan, old: old, new: new,
            rules: TagSecretRules(), resuming: progress,
            restart: { () throws(TagError) in card.losePower() }, journal: { _ throws(TagProvisionError) in })
        try provisioner.prove(try provisioner.survey(assumesFactory: false, allowsPermanent: true))
        let result = try provisioner.run()
        let keys = card.files.applet(VirtualNTAG424.self)?.keys ?? []
        return result.isVerified && keys.count == 5
            && new.numbers.allSatisfy { new.bytes($0) == keys[Int($0)] }
    }

    private static func card(
        _ survey: TagSurvey, _ old: TagKeys, _ new: TagKeys, _ progress: TagProgress?
    ) -> VirtualFileCard? {
        // Seven bytes that no tag has, where the real ones are not told.
        let uid = survey.isUIDHidden ? progress?.uid ?? [0x04, 1, 2, 3, 4, 5, 6] : survey.uid
        guard let identity = TypeAIdentity(uid: uid, atqa: 0x0344, sak: 0x20) else { return nil }
        let factory = TagKeys.factory
        let numbers = 0...4 as ClosedRange<UInt8>
        let proved = progress.map { progress in numbers.filter { progress.steps.contains(.keyProved($0)) } } ?? []
        let keys = numbers.compactMap { number in
            (proved.contains(number) ? new.bytes(number) : nil) ?? old.bytes(number) ?? factory.bytes(number)
        }
        var tag = VirtualNTAG424(uid: uid, keys: keys)
        (tag.isLRP, tag.isUIDHidden) = (survey.isLRP, survey.isUIDHidden)
        // Not every tag tells them without a key.
        tag.versions = numbers.map { survey.versions[$0] ?? (proved.contains($0) ? new.version($0) : nil) ?? 0 }
        let capability: [UInt8] =
            survey.capability ?? [0x00, 0x17, 0x20, 0x01, 0x00, 0x00, 0xFF, 0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0, 0]
        var files: [VirtualFile] = []
        for number in 1...3 as ClosedRange<UInt8> {
            guard let answer = survey.answers[number], answer.count >= 7 else { return nil }
            let size = max(Int(answer[4]) | Int(answer[5]) << 8, capability.count)
            tag.settings[number] = survey.settings(number)
            let head = number == 1 ? capability : []
            files.append(
                VirtualFile(
                    FileIdentifier(rawValue: 0xE102 + UInt16(number)),
                    .bytes(head + [UInt8](repeating: 0, count: size - head.count))))
        }
        return VirtualFileCard(
            .typeA(identity, ats: [0x05, 0x77, 0x77, 0x71, 0x02]),
            files: VirtualFileTree(
                applications: [VirtualDirectory(name: Type4Tag.application, files: files)], applets: [tag]))
    }
}
