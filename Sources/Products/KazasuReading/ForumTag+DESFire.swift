// SPDX-License-Identifier: Apache-2.0

internal import ISO7816
public import NFCForumTags
internal import ReaderCore

extension ForumTag {
    /// Sets up a DESFire with applications, files, keys of its owner and settings.
    ///
    /// ```swift
    /// var keys = DESFireKeys()
    /// try keys.add(file: file)
    /// let result = try card.forumTag().provision(plan: try DESFirePlan(document), keys: keys) { step in try store(step) }
    /// ```
    ///
    /// The old keys are proved before the first step. Each application gets its files, contents, keys and settings, and the card
    /// itself its key and settings at the end. Each new key is proved at once. Whatever interrupts this, each key is the old or
    /// the new one, and the same call with the steps that were stored ends it. A wrong key is sent once. Keep the keys before
    /// you call this, and set up one card of a batch first. Only simulated cards were tried so far.
    ///
    /// - Parameters:
    ///   - plan: applications, files, contents and settings.
    ///   - new: the keys that the card gets; of the others it keeps what it has.
    ///   - old: the keys that it has; `nil` for a card with the factory's, and for no other.
    ///   - progress: what an interrupted run did; `nil` for a new one.
    ///   - allowsPermanent: whether to change settings that nobody can change back.
    ///   - journal: stores each step where it survives the loss of power, before it is sent.
    /// - Returns: the steps, the versions of the keys, and the URI for phones.
    /// - Throws: ``KazasuError/provisionDESFire(_:)``, ``KazasuError/tag(_:)``, ``KazasuError/wrongCard(_:)``.
    public func provision(
        plan: DESFirePlan, keys new: DESFireKeys, replacing old: DESFireKeys? = nil,
        resuming progress: DESFireProgress? = nil, allowsPermanent: Bool = false,
        journal: @escaping (DESFireStep) throws(KazasuError) -> Void
    ) throws(KazasuError) -> DESFireProvision {
        let setup = try DESFireSetup(self, plan, old, new, resuming: progress, journal: journal)
        _ = try setup.survey(allowsPermanent: allowsPermanent)
        try setup.prove()
        return try setup.run()
    }
}

/// The stages of ``ForumTag/provision(plan:keys:replacing:resuming:allowsPermanent:journal:)``.
package final class DESFireSetup {
    private let provisioner: DESFireProvisioner
    private let assumesFactory: Bool
    private let tag: ForumTag
    private let passing: Passing
    private var found: DESFireSurvey?

    /// An error of the journal on its way through the issuer.
    private final class Passing {
        var failure: KazasuError?
    }

    package init(
        _ tag: ForumTag, _ plan: DESFirePlan, _ old: DESFireKeys?, _ new: DESFireKeys,
        resuming progress: DESFireProgress?, journal: @escaping (DESFireStep) throws(KazasuError) -> Void
    ) throws(KazasuError) {
        guard case .card(.typeA, let session) = tag.tag else { throw .tag(.takesNoKey) }
        let passing = Passing()
        let device = tag.card.reader.device
        (self.passing, self.tag) = (passing, tag)
        assumesFactory = old == nil
        provisioner = DESFireProvisioner(
            session: session, plan: plan, old: old ?? DESFireKeys(), new: new, resuming: progress,
            restart: { () throws(TagError) in
                do throws(TransportError) {
                    // A reader that cannot switch its field off begins a new session of ISO-DEP, which ends that of a key.
                    _ = try device.cyclePower()
                } catch {
                    throw error == .cancelled ? .cancelled : .transport(error)
                }
            },
            journal: { step throws(DESFireProvisionError) in
                do throws(KazasuError) {
                    try journal(step)
                } catch {
                    passing.failure = error
                    throw .card(.tag(.cancelled))
                }
            })
    }

    /// Looks at the card without a key, and checks what can be checked.
    package func survey(allowsPermanent: Bool) throws(KazasuError) -> DESFireSurvey {
        let survey = try run { () throws(DESFireProvisionError) in
            try provisioner.survey(assumesFactory: assumesFactory, allowsPermanent: allowsPermanent)
        }
        found = survey
        return survey
    }

    /// The steps that ``run()`` would take.
    package func planned() -> DESFireProvision? { found.map { provisioner.planned($0) } }

    /// The card's UID, once the keys are proved.
    package var uid: [UInt8] { provisioner.uid }

    /// Proves the needed keys.
    package func prove() throws(KazasuError) {
        guard let found else { return }
        try run { () throws(DESFireProvisionError) in try provisioner.prove(found) }
    }

    /// Takes the steps that are missing.
    package func run() throws(KazasuError) -> DESFireProvision {
        try run { () throws(DESFireProvisionError) in try provisioner.run() }
    }

    private func run<Value>(_ body: () throws(DESFireProvisionError) -> Value) throws(KazasuError) -> Value {
        do throws(DESFireProvisionError) {
            return try body()
        } catch {
            if let failure = passing.failure { throw failure }
            switch error {
            case .card(.tag(let error)): throw KazasuError(error)
            case .card(.notDESFire): throw .wrongCard(tag.card.reader.wrongCard(tag.card.found, wanted: .desfire))
            default: throw .provisionDESFire(error)
            }
        }
    }
}
