// SPDX-License-Identifier: Apache-2.0

internal import ISO7816
public import NFCForumTags
internal import ReaderCore

extension ForumTag {
    /// Sets up an NTAG 424 DNA with keys of its owner, a message or a URL that it makes new each time, and rights.
    ///
    /// ```swift
    /// var keys = TagKeys()
    /// try keys.add(file: file)
    /// let result = try card.forumTag().provision(plan: try TagPlan(document), keys: keys) { step in try store(step) }
    /// ```
    ///
    /// The old keys are proved before the first step; contents come first, then the keys, each of which is proved at once, the
    /// settings, and key 0 last. Whatever interrupts this, each key is the old or the new one, and the same call with the
    /// steps that were stored ends it. A wrong key is sent once: the tag counts, and locks a key for good after 1000. Keep
    /// the keys before you call this, and set up one tag of a batch first. Only simulated tags were tried so far.
    ///
    /// - Parameters:
    ///   - plan: the contents, the settings, and what is permanent.
    ///   - new: the keys that the tag gets; of the others it keeps what it has.
    ///   - old: the keys that it has; `nil` for a tag as it was made, and for no other.
    ///   - progress: what an interrupted run did; `nil` for a new one.
    ///   - allowsPermanent: whether to do what can never be undone.
    ///   - rules: whether to use a key that the tag refused before.
    ///   - journal: stores each step where it survives the loss of power, before it is sent.
    /// - Returns: the steps, the versions of the keys, and the URL that the tag made.
    /// - Throws: ``KazasuError/provision(_:)``, ``KazasuError/tag(_:)``, ``KazasuError/wrongCard(_:)``.
    public func provision(
        plan: TagPlan, keys new: TagKeys, replacing old: TagKeys? = nil, resuming progress: TagProgress? = nil,
        allowsPermanent: Bool = false, rules: TagSecretRules = TagSecretRules(),
        journal: @escaping (TagStep) throws(KazasuError) -> Void
    ) throws(KazasuError) -> TagProvision {
        let setup = try TagSetup(self, plan, old, new, rules: rules, resuming: progress, journal: journal)
        _ = try setup.survey(allowsPermanent: allowsPermanent)
        try setup.prove()
        return try setup.run()
    }
}

/// The stages of ``ForumTag/provision(plan:keys:replacing:resuming:allowsPermanent:rules:journal:)``.
package final class TagSetup {
    private let provisioner: TagProvisioner
    private let assumesFactory: Bool
    private let own = OwnSteps()
    private var found: TagSurvey?

    package init(
        _ tag: ForumTag, _ plan: TagPlan, _ old: TagKeys?, _ new: TagKeys, rules: TagSecretRules,
        resuming progress: TagProgress?, journal: @escaping (TagStep) throws(KazasuError) -> Void
    ) throws(KazasuError) {
        guard case .card(.typeA, let session) = tag.tag else { throw .tag(.takesNoKey) }
        let device = tag.card.reader.device
        assumesFactory = old == nil
        provisioner = TagProvisioner(
            session: session, plan: plan, old: old ?? .factory, new: new, rules: rules, resuming: progress,
            restart: { () throws(TagError) in
                do throws(TransportError) {
                    // A reader that cannot switch its field off begins a new session of ISO-DEP, which ends that of a key.
                    _ = try device.cyclePower()
                } catch {
                    throw error == .cancelled ? .cancelled : .transport(error)
                }
            },
            journal: { [own] step throws(TagProvisionError) in
                try own.take(as: TagProvisionError.tag(.cancelled)) { () throws(KazasuError) in try journal(step) }
            })
    }

    /// Looks at the tag without a key, and checks what can be checked.
    package func survey(allowsPermanent: Bool) throws(KazasuError) -> TagSurvey {
        let survey = try tag { () throws(TagProvisionError) in
            try provisioner.survey(assumesFactory: assumesFactory, allowsPermanent: allowsPermanent)
        }
        found = survey
        return survey
    }

    /// The steps that ``run()`` would take.
    package func planned() -> TagProvision? { found.map { provisioner.planned($0) } }

    /// The tag's UID, once the keys are proved.
    package var uid: [UInt8] { provisioner.uid }

    /// Proves the needed keys.
    package func prove() throws(KazasuError) {
        guard let found else { return }
        try tag { () throws(TagProvisionError) in try provisioner.prove(found) }
    }

    /// Takes the steps that are missing.
    package func run() throws(KazasuError) -> TagProvision {
        try tag { () throws(TagProvisionError) in try provisioner.run() }
    }

    private func tag<Value>(_ body: () throws(TagProvisionError) -> Value) throws(KazasuError) -> Value {
        try own.run { () throws(KazasuError) in
            do throws(TagProvisionError) {
                return try body()
            } catch {
                if case .tag(let error) = error { throw KazasuError(error) }
                throw .provision(error)
            }
        }
    }
}
