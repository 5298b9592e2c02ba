// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
internal import CardCrypto
package import ISO7816
internal import NDEF

/// Sets up an NTAG 424 DNA by a plan, in an order that loses no tag: contents, keys but 0, settings, key 0, what is permanent.
/// A reset goes the other way.
///
/// The old keys are proved before the first step, each new key right after its own. Steps are in the journal before they are
/// sent, and what the tag has already is not sent again, so that an interrupted run ends with the same call.
package final class TagProvisioner {
    let link: NTAG424Link
    let plan: TagPlan
    let old, new: TagKeys
    let progress: TagProgress?
    private let rules: TagSecretRules
    private let restart: () throws(TagError) -> Void
    private let journal: (TagStep) throws(TagProvisionError) -> Void
    /// The keys that the tag has, as far as they were proved.
    private var present: [UInt8: TagKeys] = [:]
    private var answers: [UInt8: [UInt8]] = [:]
    private var result: TagProvision

    /// - Parameters:
    ///   - old: the keys that the tag has; where there is none, the factory's.
    ///   - new: the keys that it gets; the others stay.
    ///   - progress: what an interrupted run did; `nil` for a new one.
    ///   - restart: takes the tag's power, where the reader can.
    ///   - journal: stores each step where it survives the loss of power, before it is sent.
    package init(
        session: ISO7816Session, plan: TagPlan, old: TagKeys, new: TagKeys, rules: TagSecretRules,
        resuming progress: TagProgress? = nil, restart: @escaping () throws(TagError) -> Void = {},
        journal: @escaping (TagStep) throws(TagProvisionError) -> Void
    ) {
        link = NTAG424Link(session: session)
        (self.plan, self.new, self.rules, self.progress) = (plan, new, rules, progress)
        (self.restart, self.journal) = (restart, journal)
        self.old = old.completed()
        result = TagProvision(uid: progress?.uid ?? [])
    }

    /// The keys that change, ascending.
    package var changes: [UInt8] { new.numbers.filter { !new.isSame($0, as: old) } }

    // MARK: Looking

    /// Looks at the tag and checks what can be checked without a key; nothing is sent that needs one.
    ///
    /// - Parameters:
    ///   - assumesFactory: whether no old keys were given, so that only a tag as it was made is set up.
    ///   - allowsPermanent: whether what is permanent was agreed to.
    package func survey(assumesFactory: Bool, allowsPermanent: Bool) throws(TagProvisionError) -> TagSurvey {
        guard allowsPermanent || !plan.isPermanent else { throw .permanent }
        try checkKeys()
        let survey = try tag { () throws(TagError) in try link.survey() }
        if let progress, !survey.isUIDHidden, survey.uid != progress.uid { throw .otherTag }
        if assumesFactory, progress == nil, !survey.isFactory { throw .alreadySetUp }
        // In LRP mode, PICC data are longer.
        if survey.isLRP, !plan.isLRP, plan.metaKey != nil { throw .lrpMode }
        for (file, wanted) in plan.settings where survey.settings(file) != final(file) {
            let isOpen = survey.settings(file)[1] & 0x0F <= 4
            if !isOpen, !plan.isReset, survey.settings(file) != wanted { throw .frozen(file: file) }
        }
        return survey
    }

    private func checkKeys() throws(TagProvisionError) {
        if !plan.isReset {
            for number in new.numbers where new.isFactory(number) { throw .factoryKey(number) }
            for number in [plan.metaKey, plan.fileKey].compactMap({ $0 }) where keysAfter(number).isFactory(number) {
                throw .factoryKey(number)
            }
        }
        guard let progress else { return }
        let others = try tag { () throws(TagError) in try (progress.old?.firstOther(old), progress.new?.firstOther(new))
        }
        if let other = others.0 ?? others.1 { throw .otherKey(other) }
    }

    private func keysAfter(_ number: UInt8) -> TagKeys { new.entries[number] == nil ? old : new }

    /// The steps that a run would take, as far as they show without a key.
    package func planned(_ survey: TagSurvey) -> TagProvision {
        var planned = TagProvision(uid: survey.uid)
        let settings = order.filter { survey.settings($0) != reversible($0, survey.settings($0)) }.map {
            TagStep.settings(file: $0)
        }
        var steps: [TagStep] = [.contents(file: 2)]
        if changesCapability(survey) { steps.append(.contents(file: 1)) }
        steps += changes.filter { $0 != 0 }.map { .key($0) }
        if plan.isLRP { steps.append(.lrp) }
        steps += settings
        if changes.contains(0) { steps.append(.key(0)) }
        if plan.isReset { steps.reverse() }
        steps += order.filter { final($0) != plan.settings[$0] || isFrozen($0) }.map { .freeze(file: $0) }
        if plan.hasRandomUID { steps.append(.randomUID) }
        planned.steps = steps.map { step in
            TagStepResult(step: step, state: step == .lrp && survey.isLRP ? .already : .planned)
        }
        planned.versions = survey.versions
        for number in changes { planned.versions[number] = new.entries[number]?.version }
        return planned
    }

    // MARK: Settings of a plan

    private var order: [UInt8] { plan.settings.keys.sorted(by: >) }

    /// The settings that a file has in the end.
    private func final(_ file: UInt8) -> [UInt8] {
        guard let wanted = plan.settings[file] else { return [] }
        return file == 2 && plan.isReadOnly ? [wanted[0], 0xFF, 0xEF] + wanted[3...] : wanted
    }

    private func isFrozen(_ file: UInt8) -> Bool { final(file).dropFirst().first.map { $0 & 0x0F == 0x0F } ?? false }

    /// The same before what is permanent: whoever may change them now still may.
    private func reversible(_ file: UInt8, _ now: [UInt8]) -> [UInt8] {
        guard var wanted = plan.settings[file] else { return now }
        if now == final(file) { return now }
        if wanted[1] & 0x0F == 0x0F { wanted[1] = wanted[1] & 0xF0 | now[1] & 0x0F }
        return wanted
    }

    private func file(_ number: UInt8) throws(TagProvisionError) -> NTAG424File {
        guard let file = NTAG424File(number, answers[number] ?? []) else { throw .tag(.badAnswer) }
        return file
    }

    // MARK: Running

    /// Proves the keys that are needed, and nothing else.
    package func prove(_ survey: TagSurvey) throws(TagProvisionError) {
        (answers, uidBeforeProof) = (survey.answers, survey.isUIDHidden ? [0x08, 0, 0, 0] : survey.uid)
        try tag { () throws(TagError) in try link.select() }
        var needed: Set<UInt8> = Set(changes).union([0])
        needed.formUnion([plan.metaKey, plan.fileKey].compactMap { $0 })
        for number in order where survey.settings(number) != final(number) {
            let change = survey.settings(number)[1] & 0x0F
            if change <= 4 { needed.insert(change) }
        }
        if let writer = try writer(of: file(2)) { needed.insert(writer) }
        if let writer = try writer(of: file(1)) { needed.insert(writer) }
        try checkRules(needed)
        for number in needed.sorted() { try resolve(number) }
        let uid = try ask(.uid, [])
        if let progress, uid != progress.uid { throw .otherTag }
        guard survey.isUIDHidden || survey.uid == uid else { throw .otherTag }
        result = TagProvision(uid: uid)
        isLRP = survey.isLRP
        guard plan.isReset else { return }
        if survey.isLRP { result.left.append(.lrp) }
        if survey.isUIDHidden { result.left.append(.randomUID) }
    }

    /// Whether the tag was switched to LRP.
    private var isLRP = false

    /// Refuses keys that the tag did not accept before, while nothing was sent.
    private func checkRules(_ numbers: Set<UInt8>) throws(TagProvisionError) {
        for number in numbers.sorted() where !isOpen(number) {
            let keys = changes.contains(number) && progress?.steps.contains(.keyProved(number)) == true ? new : old
            guard let secret = keys.entries[number]?.key, let key = TagKey(secret, number: number) else { continue }
            if let obstacle = rules.obstacle(key, uid: progress?.uid ?? uidBeforeProof) { throw .tag(.key(obstacle)) }
        }
    }

    /// Whether the journal leaves open which key the tag has.
    private func isOpen(_ number: UInt8) -> Bool {
        guard let steps = progress?.steps, changes.contains(number) else { return false }
        return steps.contains(.key(number)) && !steps.contains(.keyProved(number))
    }

    /// The tag's UID, once the keys are proved.
    package var uid: [UInt8] { result.uid }

    /// Takes the missing steps.
    package func run() throws(TagProvisionError) -> TagProvision {
        if plan.isReset { try goBack() } else { try setUp() }
        for number in order where isFrozen(number) { try set(number, to: final(number), .freeze(file: number)) }
        try readBack()
        if plan.hasRandomUID {
            let isBegun = progress?.steps.contains(.randomUID) ?? false
            try journal(.randomUID)
            try open(0)
            _ = try ask(.configure, [0x00], data: [0x02])
            note(.randomUID, isBegun ? .already : .done)
        }
        try journal(.done)
        result.isVerified = true
        return result
    }

    /// Everything that can be undone; key 0, which opens the rest, comes last.
    private func setUp() throws(TagProvisionError) {
        try writeContents()
        for number in changes where number != 0 { try change(number) }
        if plan.isLRP { try switchToLRP() }
        for number in order { try set(number, to: reversible(number, settings(number)), .settings(file: number)) }
        try verifyURL()
        if changes.contains(0) { try change(0) }
    }

    /// The reverse of ``setUp()``.
    private func goBack() throws(TagProvisionError) {
        if changes.contains(0) { try change(0) }
        for number in order.reversed() {
            try set(number, to: reversible(number, settings(number)), .settings(file: number))
        }
        for number in changes.reversed() where number != 0 { try change(number) }
        try writeContents()
    }

    /// Switches to LRP, which is forever, and proves key 0 in that mode. It is done before the settings, whose offsets differ.
    private func switchToLRP() throws(TagProvisionError) {
        guard !isLRP else { return note(.lrp, .already) }
        // What an earlier URL had at these places may not fit the longer data.
        if settings(2)[0] & 0x40 != 0 {
            try set(2, to: [settings(2)[0] & ~0x40] + settings(2)[1..<3], .settings(file: 2))
        }
        try open(0)
        try journal(.lrp)
        try tag { () throws(TagError) in try link.switchToLRP() }
        isLRP = true
        try open(0)
        note(.lrp, .done)
    }

    private func note(_ step: TagStep, _ state: TagStepResult.State) {
        result.steps.append(TagStepResult(step: step, state: state))
    }

    private func settings(_ file: UInt8) -> [UInt8] { TagSurvey.settings(answers[file] ?? []) }

    // MARK: Keys

    /// Finds out which key the tag has: what the journal leaves open is tried, the new key first.
    private func resolve(_ number: UInt8) throws(TagProvisionError) {
        let steps = progress?.steps ?? []
        guard changes.contains(number), steps.contains(.key(number)) else { return try prove(number, old) }
        guard !steps.contains(.keyProved(number)) else { return try prove(number, new) }
        // Which one is wrong says nothing about the owner's keys, so that it is not remembered.
        do throws(TagProvisionError) {
            try authenticate(number, new)
        } catch .tag(.keyRefused) {
            do throws(TagProvisionError) {
                try authenticate(number, old)
            } catch .tag(.keyRefused) {
                throw .wrongKey(number)
            }
            return
        }
        try journal(.keyProved(number))
    }

    /// Tries a key that the tag must have, unless the tag refused it before; a refusal is remembered.
    private func prove(_ number: UInt8, _ keys: TagKeys) throws(TagProvisionError) {
        guard let secret = keys.entries[number]?.key, let key = TagKey(secret, number: number) else {
            throw .tag(.key(.noSuchKey(number)))
        }
        let uid = progress?.uid ?? uidBeforeProof
        do throws(TagError) {
            try rules.attemptOne(key, uid: uid) { () throws(TagError) in
                try link.authenticate(try keys.secret(number), number: number)
            }
        } catch .keyRefused {
            throw .wrongKey(number)
        } catch {
            throw .tag(error)
        }
        present[number] = keys
    }

    /// The UID by which a refused key is remembered; a random one of a tag that hides its own.
    private var uidBeforeProof: [UInt8] = []

    private func authenticate(_ number: UInt8, _ keys: TagKeys) throws(TagProvisionError) {
        try tag { () throws(TagError) in try link.authenticate(try keys.secret(number), number: number) }
        present[number] = keys
    }

    /// Opens a session of a key that was proved, unless it is open.
    private func open(_ number: UInt8) throws(TagProvisionError) {
        if link.secure != nil, link.keyNumber == number { return }
        if present[number] == nil { return try resolve(number) }
        try authenticate(number, present[number] ?? old)
    }

    private func change(_ number: UInt8) throws(TagProvisionError) {
        if let keys = present[number], keys.isSame(number, as: new) { return note(.key(number), .already) }
        guard let entry = new.entries[number], var key = new.bytes(number), var before = old.bytes(number) else {
            return
        }
        defer {
            key.wipe()
            before.wipe()
        }
        try open(0)
        try journal(.key(number))
        if number == 0 {
            _ = try ask(.changeOwnKey, [0], data: EV2KeyChange.own(key, version: entry.version))
        } else {
            _ = try ask(
                .changeKey, [number], data: EV2KeyChange.other(key, old: before, version: entry.version))
        }
        if number == 0 {
            try proveNew(0)
            try restartTag()
        }
        try proveNew(number)
        guard try ask(.keyVersion, [number]) == [entry.version] else { throw .keyNotVerified(number) }
        try journal(.keyProved(number))
        note(.key(number), .done)
    }

    private func proveNew(_ number: UInt8) throws(TagProvisionError) {
        do throws(TagProvisionError) {
            try authenticate(number, new)
        } catch .tag(.keyRefused) {
            throw .keyNotVerified(number)
        }
    }

    /// Takes the tag's power and selects its application again.
    private func restartTag() throws(TagProvisionError) {
        try tag { () throws(TagError) in
            try restart()
            link.session.forgetSelection()
            try link.select()
        }
    }

    // MARK: Contents

    /// A key that may read and write a file, or 0 where everybody may; `nil` if nobody may do both.
    private func writer(of file: NTAG424File) -> UInt8? {
        (0...4 as ClosedRange<UInt8>).first {
            file.allows([file.read, file.readWrite], key: $0) && file.allows([file.write, file.readWrite], key: $0)
        }
    }

    private func writeContents() throws(TagProvisionError) {
        let length = [
            UInt8(truncatingIfNeeded: plan.message.count >> 8), UInt8(truncatingIfNeeded: plan.message.count),
        ]
        if try writer(of: file(2)) == nil {
            guard settings(2)[1] & 0x0F <= 4 else {
                guard plan.isReset || settings(2) == final(2) else { throw .frozen(file: 2) }
                return
            }
            try set(2, to: [0x00, settings(2)[1] & 0x0F, 0xE0], .opening)
        }
        try write(2, at: 0, length + plan.message) { link, file throws(TagError) in
            try link.write(file, at: 0, [0, 0])
            try link.write(file, at: 2, plan.message)
            try link.write(file, at: 0, length)
        }
        try writeCapability()
    }

    /// Writes what differs, and reads it back.
    private func write(
        _ number: UInt8, at offset: Int, _ bytes: [UInt8],
        _ body: (NTAG424Link, NTAG424File) throws(TagError) -> Void
    ) throws(TagProvisionError) {
        let file = try file(number)
        guard let writer = writer(of: file) else { return }
        try open(writer)
        func isThere() throws(TagProvisionError) -> Bool {
            try tag { () throws(TagError) in try link.read(file, from: offset, count: bytes.count) } == bytes
        }
        if try isThere() { return note(.contents(file: number), .already) }
        try journal(.contents(file: number))
        try tag { () throws(TagError) in try body(link, file) }
        guard try isThere() else { throw .notVerified(file: number) }
        note(.contents(file: number), .done)
    }

    /// Tells phones in the Capability Container whether everybody may write.
    private func writeCapability() throws(TagProvisionError) {
        let file = try file(1)
        guard let writer = writer(of: file) else { return }
        try open(writer)
        let head = try tag { () throws(TagError) in try link.read(file, count: TagSurvey.capabilityLength) }
        guard Self.hasRights(head) else { return }
        let byte = rightsByte
        try write(1, at: 14, [byte]) { link, file throws(TagError) in try link.write(file, at: 14, [byte]) }
    }

    /// Whether the rights of the NDEF file are where a tag has them.
    private static func hasRights(_ head: [UInt8]) -> Bool {
        head.count == TagSurvey.capabilityLength && Array(head[7..<11]) == [0x04, 0x06, 0xE1, 0x04]
    }

    /// Whether everybody may write in the end, as the Capability Container says it.
    private var rightsByte: UInt8 {
        let rights = final(2)
        return rights[2] & 0x0F == 0x0E || rights[1] >> 4 == 0x0E ? 0x00 : 0xFF
    }

    /// Whether ``writeCapability()`` would write, or may: the tag need not show the container without a key.
    private func changesCapability(_ survey: TagSurvey) -> Bool {
        guard let file = NTAG424File(1, survey.answers[1] ?? []), writer(of: file) != nil else { return false }
        return survey.capability.map { Self.hasRights($0) && $0[14] != rightsByte } ?? true
    }

    // MARK: Settings

    private func set(_ number: UInt8, to wanted: [UInt8], _ step: TagStep) throws(TagProvisionError) {
        guard settings(number) != wanted else { return note(step, .already) }
        let change = settings(number)[1] & 0x0F
        guard change <= 4 else {
            guard plan.isReset else { throw .frozen(file: number) }
            result.left.append(.freeze(file: number))
            return
        }
        try open(change)
        try journal(step)
        _ = try ask(.changeSettings, [number], data: wanted)
        answers[number] = try ask(.settings, [number])
        guard settings(number) == wanted else { throw .notVerified(file: number) }
        note(step, .done)
    }

    /// Reads the URL as a phone would, and verifies it with the keys.
    private func verifyURL() throws(TagProvisionError) {
        guard plan.isVerifiable, let fileKey = plan.fileKey else { return }
        let message = try tag { () throws(TagError) in try Type4Tag(session: link.session).readNDEF().message }
        try tag { () throws(TagError) in try link.select() }
        guard let record = try? NDEFMessage(decoding: message).records.first,
            case .uri(let uri)? = try? record.content(),
            let parts = SecureUniqueMessage(url: uri.text),
            let file = keysAfter(fileKey).entries[fileKey]?.key,
            let meta = plan.metaKey.map({ keysAfter($0).entries[$0]?.key }) ?? file
        else { throw .invalidURL }
        let contents = try tag { () throws(TagError) in
            do throws(CryptoError) {
                return try parts.contents(metaKey: meta, fileKey: file)
            } catch {
                throw TagError.crypto(error)
            }
        }
        guard contents?.uid == result.uid else { throw .invalidURL }
        result.url = uri.text
    }

    /// Reads everything back after the tag was without power.
    private func readBack() throws(TagProvisionError) {
        try restartTag()
        for number in changes.sorted(by: >) {
            try proveNew(number)
            guard try ask(.keyVersion, [number]) == [new.entries[number]?.version ?? 0] else {
                throw .keyNotVerified(number)
            }
        }
        try open(0)
        for number in 0...4 as ClosedRange<UInt8> {
            result.versions[number] = try ask(.keyVersion, [number]).first
        }
        for number in order where !result.left.contains(.freeze(file: number)) {
            guard TagSurvey.settings(try ask(.settings, [number])) == final(number) else {
                throw .notVerified(file: number)
            }
        }
    }

    // MARK: The tag

    private func ask(_ command: EV2Command, _ header: [UInt8], data: [UInt8] = []) throws(TagProvisionError) -> [UInt8]
    {
        try tag { () throws(TagError) in try link.ask(command, header, data: data) }
    }

    private func tag<Value>(_ body: () throws(TagError) -> Value) throws(TagProvisionError) -> Value {
        do throws(TagError) {
            return try body()
        } catch {
            throw .tag(error)
        }
    }
}
