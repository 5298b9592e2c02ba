// SPDX-License-Identifier: Apache-2.0

internal import CardCiphers
package import ISO7816

/// Sets up a DESFire by a plan, in an order that loses no card: each application with files, contents, keys but 0, key 0 and
/// settings, then the card's own key and settings. A reset deletes the applications, and gives the card's key back last.
///
/// The old keys are proved before the first step, each new key right after its change. Steps are in the journal before they are
/// sent, and what the card has already is not sent again, so that an interrupted run ends with the same call.
package final class DESFireProvisioner {
    /// Whose value a key has.
    enum Source: Hashable {
        /// Zeros, as in an application that was just made.
        case factory
        case old
        case new
    }

    let tag: DESFireTag
    let plan: DESFirePlan
    let old, new: DESFireKeys
    let progress: DESFireProgress?
    private let restart: () throws(TagError) -> Void
    private let journal: (DESFireStep) throws(DESFireProvisionError) -> Void
    /// What is selected; `nil` if unknown.
    private var selected: DESFireApplicationID?
    private var card = DESFireApplication(.card)
    /// The applications of the plan that the card has.
    private var applications: [DESFireApplicationID: DESFireApplication] = [:]
    /// The keys that the card has, as far as they were proved.
    private var present: [DESFireKeyID: Source] = [:]
    /// The applications that this run made.
    private var made: Set<DESFireApplicationID> = []
    private var result: DESFireProvision

    private var link: DESFireLink { tag.link }

    /// - Parameters:
    ///   - old: the keys that the card has; where there is none, the factory's.
    ///   - new: the keys that it gets; the others stay.
    ///   - progress: what an interrupted run did; `nil` for a new one.
    ///   - restart: takes the card's power, where the reader can.
    ///   - journal: stores each step where it survives the loss of power, before it is sent.
    package init(
        session: ISO7816Session, plan: DESFirePlan, old: DESFireKeys, new: DESFireKeys,
        resuming progress: DESFireProgress? = nil, restart: @escaping () throws(TagError) -> Void = {},
        journal: @escaping (DESFireStep) throws(DESFireProvisionError) -> Void
    ) {
        tag = DESFireTag(session: session)
        (self.plan, self.old, self.new, self.progress) = (plan, old, new, progress)
        (self.restart, self.journal) = (restart, journal)
        result = DESFireProvision(uid: progress?.uid ?? [])
    }

    /// The card's UID, once the keys are proved.
    package var uid: [UInt8] { result.uid }

    private func hasBegun(_ step: DESFireStep) -> Bool { progress?.steps.contains(step) ?? false }

    // MARK: Looking

    /// Looks at the card and checks what can be checked without a key; nothing is sent that needs one.
    ///
    /// - Parameters:
    ///   - assumesFactory: whether no old keys were given, so that only a card with the factory's is set up.
    ///   - allowsPermanent: whether what is permanent was agreed to.
    package func survey(assumesFactory: Bool, allowsPermanent: Bool) throws(DESFireProvisionError) -> DESFireSurvey {
        guard allowsPermanent || !plan.isPermanent else { throw .permanent }
        try checkKeys()
        let wanted = plan.deletion?.applications ?? plan.applications.map { $0.id }
        let survey = try run { () throws(DESFireError) in try tag.survey(wanted) }
        card = survey.card
        if let uid = survey.version.uid, let progress, uid != progress.uid { throw .otherCard }
        guard !plan.isReset else { return survey }
        try checkGeneration(survey)
        if assumesFactory, progress == nil,
            card.settings ?? 0 != DESFirePlan.factorySettings || card.keyVersions.first != 0
        {
            throw .alreadySetUp(.card)
        }
        let settings = card.settings ?? DESFirePlan.factorySettings
        if let wanted = plan.cardSettings, wanted != settings, settings & 0x08 == 0, card.settings != nil {
            throw .frozen(.card)
        }
        if !new.numbers(of: .card).isEmpty, settings & 0x01 == 0, !hasBegun(.key(.master)) { throw .frozen(.card) }
        for application in plan.applications { try check(application, survey) }
        try checkRoom(survey)
        return survey
    }

    private func checkKeys() throws(DESFireProvisionError) {
        if !plan.isReset {
            for application in new.applications {
                let planned = plan.applications.first { $0.id == application }
                for number in new.numbers(of: application) {
                    let id = DESFireKeyID(application, number)
                    guard let planned, number < planned.keyCount,
                        let key = new.key(number, of: application, planned.keyType)
                    else { throw .unusableKey(id) }
                    if key.isZeros(planned.keyType) { throw .factoryKey(id) }
                }
            }
            for number in new.numbers(of: .card) {
                guard number == 0, let key = new.key(0, of: .card, nil) else {
                    throw .unusableKey(DESFireKeyID(.card, number))
                }
                if key.isZeros(.des) { throw .factoryKey(.master) }
            }
            if let writer = plan.writeKey, new.key(writer.number, of: writer.application, nil) == nil,
                old.key(writer.number, of: writer.application, nil)?.isZeros(.des) ?? true
            {
                throw .factoryKey(writer)
            }
        }
        guard let progress else { return }
        let other = try run { () throws(DESFireError) -> DESFireKeyID? in
            if let other = try progress.old?.firstOther(old) { return other }
            return try progress.new?.firstOther(new)
        }
        if let other { throw .otherKey(other) }
    }

    private func checkGeneration(_ survey: DESFireSurvey) throws(DESFireProvisionError) {
        guard survey.version.generation == 0 else { return }
        let isModern = plan.applications.contains { $0.keyType != .des || !$0.name.isEmpty || $0.isoID != nil }
        guard !isModern, newCardType == .des else { throw .tooOld }
    }

    /// Whether an application that is there is the plan's, and may be changed.
    private func check(_ planned: DESFirePlan.Application, _ survey: DESFireSurvey) throws(DESFireProvisionError) {
        guard let found = survey.applications[planned.id] else { return }
        let isOwn = hasBegun(.application(planned.id))
        guard isOwn || !old.numbers(of: planned.id).isEmpty else { throw .alreadySetUp(planned.id) }
        try checkFit(planned, found)
        let settings = found.settings ?? DESFirePlan.factorySettings
        let keys = new.numbers(of: planned.id)
        if settings >> 4 == 0x0F, keys.contains(where: { $0 != 0 && !hasBegun(.key(DESFireKeyID(planned.id, $0))) }) {
            throw .frozen(planned.id)
        }
        if settings != planned.settings, settings & 0x08 == 0 { throw .frozen(planned.id) }
    }

    private func checkFit(
        _ planned: DESFirePlan.Application, _ found: DESFireApplication
    ) throws(DESFireProvisionError) {
        guard found.keyType ?? planned.keyType == planned.keyType,
            found.keyCount ?? planned.keyCount == planned.keyCount,
            planned.files.allSatisfy({ file in
                found.files.first { $0.number == file.number }.map { file.fits($0) } ?? true
            })
        else { throw .alreadySetUp(planned.id) }
    }

    private func checkRoom(_ survey: DESFireSurvey) throws(DESFireProvisionError) {
        guard let free = survey.freeMemory else { return }
        var needed = 0
        for application in plan.applications where !survey.isClosed(application.id) {
            let there = Set((survey.applications[application.id]?.files ?? []).map { $0.number })
            for file in application.files where !there.contains(file.number) { needed += file.room }
        }
        if needed > free { throw .noRoom(needed: needed, free: free) }
    }

    /// The steps that a run would take, as far as they show without a key.
    package func planned(_ survey: DESFireSurvey) -> DESFireProvision {
        var planned = DESFireProvision(uid: survey.version.uid ?? [])
        var steps: [DESFireStep] = []
        if let deletion = plan.deletion {
            if survey.card.settings != plan.cardSettings { steps.append(.settings(.card)) }
            steps += deletion.applications.filter { survey.applications[$0] != nil }.map { .delete($0) }
            if deletion.isFormat { steps.append(.format) }
        }
        for application in plan.applications {
            let id = application.id
            let found = survey.applications[id]
            if found == nil { steps.append(.application(id)) }
            for file in application.files where !(found?.files.contains { $0.number == file.number } ?? false) {
                if !survey.isClosed(id), let file = DESFireFileID(id, file.number) { steps.append(.file(file)) }
            }
            for file in application.files where !file.data.isEmpty {
                if let file = DESFireFileID(id, file.number) { steps.append(.contents(file)) }
            }
            steps += numbers(id).map { .key(DESFireKeyID(id, $0)) }
            if found?.settings ?? DESFirePlan.factorySettings != application.settings { steps.append(.settings(id)) }
            for (number, version) in (found?.keyVersions ?? []).enumerated() {
                planned.versions[DESFireKeyID(id, UInt8(truncatingIfNeeded: number))] = version
            }
            for number in new.numbers(of: id) {
                let key = DESFireKeyID(id, number)
                planned.versions[key] = try? version(key, .new)
            }
        }
        if !new.numbers(of: .card).isEmpty {
            steps.append(.key(.master))
            planned.versions[.master] = try? version(.master, .new)
        } else {
            planned.versions[.master] = survey.card.keyVersions.first
        }
        if !plan.isReset, let settings = plan.cardSettings, settings != survey.card.settings {
            steps.append(.settings(.card))
        }
        planned.steps = steps.map { DESFireStepResult(step: $0, state: .planned) }
        return planned
    }

    /// The numbers of an application's new keys in the order in which they change: key 0 opens the rest, and comes last.
    private func numbers(_ application: DESFireApplicationID) -> [UInt8] {
        let numbers = new.numbers(of: application)
        return numbers.filter { $0 != 0 } + numbers.filter { $0 == 0 }
    }

    // MARK: Keys

    /// The type of the card's new master key: 24 bytes are Triple DES with three keys; of 16, only an AES key has a version of
    /// its own.
    private var newCardType: DESFireKeyType {
        let now = card.keyType ?? .des
        guard let entry = new.entries[.card]?[0] else { return now }
        guard let secret = entry.secret else { return .des }
        if secret.count == DESFireKeyType.threeKeyTripleDES.keyLength { return .threeKeyTripleDES }
        if entry.version != nil { return .aes }
        return now == .threeKeyTripleDES ? .des : now
    }

    /// `nil` as long as the card has not shown the type.
    private func type(_ id: DESFireKeyID, _ source: Source) -> DESFireKeyType? {
        if id == .master { return source == .new && card.keyType != nil ? newCardType : card.keyType }
        return plan.applications.first { $0.id == id.application }?.keyType ?? applications[id.application]?.keyType
    }

    private func key(_ id: DESFireKeyID, _ source: Source) throws(DESFireProvisionError) -> DESFireKey {
        let type = type(id, source)
        let keys: DESFireKeys? =
            switch source {
            case .factory: nil
            case .old: old
            case .new: new
            }
        guard let keys, keys.entries[id.application]?[id.number] != nil else {
            guard let key = DESFireKey([UInt8](repeating: 0, count: type?.keyLength ?? 16), number: id.number) else {
                throw .unusableKey(id)
            }
            return key
        }
        guard let key = keys.key(id.number, of: id.application, type) else { throw .unusableKey(id) }
        guard let type else { return key }
        return try run { () throws(DESFireError) in try key.key(type) }
    }

    /// The version that the card reports for a key.
    private func version(_ id: DESFireKeyID, _ source: Source) throws(DESFireProvisionError) -> UInt8 {
        guard type(id, source) ?? newCardType == .aes else {
            return DESFireKeyChange.version(try key(id, source).copy())
        }
        let keys = source == .new ? new : old
        guard source != .factory, let entry = keys.entries[id.application]?[id.number] else { return 0 }
        return entry.version ?? (entry.secret == nil ? 0 : 1)
    }

    /// What a key was before this plan.
    private func base(_ id: DESFireKeyID) -> Source {
        id != .master && (made.contains(id.application) || hasBegun(.application(id.application))) ? .factory : .old
    }

    private func isChanging(_ id: DESFireKeyID) -> Bool { new.entries[id.application]?[id.number] != nil }

    /// Finds out which key the card has: what the journal leaves open is tried, the new key first.
    private func resolve(_ id: DESFireKeyID) throws(DESFireProvisionError) {
        guard present[id] == nil else { return }
        guard isChanging(id), hasBegun(.key(id)) else { return try prove(id, base(id)) }
        guard !hasBegun(.keyProved(id)) else { return try prove(id, .new) }
        if id == .master, let now = card.keyType, now != newCardType {
            // The type shows that it was not changed.
            return try prove(id, base(id))
        }
        do throws(DESFireProvisionError) {
            try authenticate(id, .new)
        } catch .card(.wrongKey) {
            do throws(DESFireProvisionError) {
                try authenticate(id, base(id))
            } catch .card(.wrongKey), .unusableKey {
                throw .wrongKey(id)
            }
            return
        }
        try journal(.keyProved(id))
    }

    /// Tries a key that the card must have.
    private func prove(_ id: DESFireKeyID, _ source: Source) throws(DESFireProvisionError) {
        do throws(DESFireProvisionError) {
            try authenticate(id, source)
        } catch .card(.wrongKey), .card(.keyLength) {
            throw .wrongKey(id)
        }
    }

    private func proveNew(_ id: DESFireKeyID) throws(DESFireProvisionError) {
        do throws(DESFireProvisionError) {
            try authenticate(id, .new)
        } catch .card(.wrongKey) {
            throw .keyNotVerified(id)
        }
    }

    private func authenticate(_ id: DESFireKeyID, _ source: Source) throws(DESFireProvisionError) {
        let (key, type) = (try key(id, source), type(id, source))
        try select(id.application)
        let found = try run { () throws(DESFireError) in try tag.authenticate(key, type, nil) }
        if id == .master { card.keyType = found }
        present[id] = source
    }

    private func select(_ application: DESFireApplicationID) throws(DESFireProvisionError) {
        guard selected != application else { return }
        selected = nil
        try run { () throws(DESFireError) in try link.select(application) }
        selected = application
    }

    /// Opens a session of a key that was proved, unless it is open.
    private func open(_ id: DESFireKeyID) throws(DESFireProvisionError) {
        if selected == id.application, link.keyNumber == id.number { return }
        guard let source = present[id] else { return try resolve(id) }
        try authenticate(id, source)
    }

    /// Selects an application without a session.
    private func close(_ application: DESFireApplicationID) throws(DESFireProvisionError) {
        if selected == application, link.keyNumber == nil { return }
        selected = nil
        try select(application)
    }

    /// Changes a key, and proves the new one at once.
    private func change(_ id: DESFireKeyID) throws(DESFireProvisionError) {
        if id == .master { try open(id) }
        let settings = id == .master ? card.settings : applications[id.application]?.settings
        let now = present[id] ?? base(id)
        let (before, after) = (try key(id, now), try key(id, .new))
        if type(id, now) == type(id, .new), before.hasSameBytes(as: after) {
            if present[id] == nil { try open(id) }
            return note(.key(id), .already)
        }
        let owner = try owner(of: id, settings ?? DESFirePlan.factorySettings)
        try open(owner)
        guard let session = link.secure else { throw .card(.tag(.badAnswer)) }
        let isOwn = owner == id
        guard let type = type(id, .new) else { throw .card(.tag(.badAnswer)) }
        var (oldBytes, newBytes) = (before.copy(), after.copy())
        defer {
            oldBytes.wipe()
            newBytes.wipe()
        }
        let version = try version(id, .new)
        var parts = DESFireKeyChange.parts(
            newBytes, replacing: isOwn ? nil : oldBytes, version: type == .aes ? version : nil, session)
        defer { parts.data.wipe() }
        try journal(.key(id))
        _ = try ask(
            isOwn ? .changeOwnKey : .changeKey, [id.number | (id == .master ? type.bits : 0)], data: parts.data,
            tail: parts.tail)
        if id == .master { card.keyType = type }
        try proveNew(id)
        guard try ask(.keyVersion, [id.number]) == [version] else { throw .keyNotVerified(id) }
        try journal(.keyProved(id))
        note(.key(id), .done)
    }

    /// The key that may change a key.
    private func owner(of id: DESFireKeyID, _ settings: UInt8) throws(DESFireProvisionError) -> DESFireKeyID {
        let changer = settings >> 4
        if id.number == 0 || id == .master || changer == 0 || changer == id.number {
            return DESFireKeyID(id.application, 0)
        }
        switch changer {
        case 0x0F: throw .frozen(id.application)
        case 0x0E: return id
        default: return DESFireKeyID(id.application, changer)
        }
    }

    // MARK: Running

    /// Proves the keys that are needed, and nothing else.
    package func prove(_ survey: DESFireSurvey) throws(DESFireProvisionError) {
        (card, applications) = (survey.card, survey.applications)
        if needsMaster(survey) { try open(.master) }
        var uid = survey.version.uid ?? []
        if uid.isEmpty {
            try open(.master)
            uid = try ask(.uid, [])
        }
        guard uid.count == 7, progress.map({ $0.uid == uid }) ?? true else { throw .otherCard }
        for application in plan.applications where applications[application.id] != nil {
            try prove(application, isClosed: survey.isClosed(application.id))
        }
        for id in plan.deletion?.applications ?? [] where applications[id] != nil {
            try prove(DESFireKeyID(id, 0), .old)
        }
        result = DESFireProvision(uid: uid)
    }

    private func needsMaster(_ survey: DESFireSurvey) -> Bool {
        if let deletion = plan.deletion { return usesMaster || deletion.isFormat }
        let settings = survey.card.settings ?? 0
        let makes = plan.applications.contains { survey.applications[$0.id] == nil }
        return makes && settings & 0x04 == 0 || !new.numbers(of: .card).isEmpty
            || plan.cardSettings.map { $0 != settings } ?? false
    }

    /// Whether a reset uses the card's key: without it, an application is deleted with its own.
    private var usesMaster: Bool {
        !old.numbers(of: .card).isEmpty || !new.numbers(of: .card).isEmpty || (card.settings ?? 0) & 0x04 == 0
    }

    private func prove(
        _ planned: DESFirePlan.Application, isClosed: Bool
    ) throws(DESFireProvisionError) {
        let id = planned.id
        try open(DESFireKeyID(id, 0))
        if isClosed {
            var found = DESFireApplication(id)
            try run { () throws(DESFireError) in try tag.look(at: &found) }
            try checkFit(planned, found)
            applications[id] = found
        }
        var needed = Set(new.numbers(of: id))
        for file in planned.files where !file.data.isEmpty {
            for case .key(let number) in writers(file) { needed.insert(number) }
        }
        for number in needed.sorted() { try resolve(DESFireKeyID(id, number)) }
    }

    /// Takes the missing steps.
    package func run() throws(DESFireProvisionError) -> DESFireProvision {
        if let deletion = plan.deletion {
            try goBack(deletion)
        } else {
            for application in plan.applications { try setUp(application) }
            if isChanging(.master) { try change(.master) }
            if let settings = plan.cardSettings { try set(.card, to: settings) }
        }
        try readBack()
        try journal(.done)
        result.url = plan.uri
        result.isVerified = true
        return result
    }

    private func setUp(_ planned: DESFirePlan.Application) throws(DESFireProvisionError) {
        let id = planned.id
        try make(planned)
        for file in planned.files { try make(file, in: id) }
        for file in planned.files where !file.data.isEmpty { try write(file, in: id) }
        for number in numbers(id) { try change(DESFireKeyID(id, number)) }
        try set(id, to: planned.settings)
    }

    private func make(_ planned: DESFirePlan.Application) throws(DESFireProvisionError) {
        let id = planned.id
        guard applications[id] == nil else { return note(.application(id), .already) }
        if (card.settings ?? 0) & 0x04 == 0 { try open(.master) } else { try close(.card) }
        try journal(.application(id))
        var data = id.bytes + [DESFirePlan.factorySettings]
        data.append(UInt8(planned.keyCount) | planned.keyType.bits | (planned.isoID == nil ? 0 : 0x20))
        if let iso = planned.isoID { data += [UInt8(truncatingIfNeeded: iso), UInt8(truncatingIfNeeded: iso >> 8)] }
        // A name stands behind an identifier, which no file needs then.
        if planned.isoID == nil, !planned.name.isEmpty { data += [id.bytes[0], id.bytes[1]] }
        _ = try ask(.createApplication, data + planned.name)
        made.insert(id)
        try select(id)
        var found = DESFireApplication(id)
        try run { () throws(DESFireError) in try tag.look(at: &found) }
        guard found.keyType == planned.keyType, found.keyCount == planned.keyCount else {
            throw .settingsNotVerified(id)
        }
        applications[id] = found
        note(.application(id), .done)
    }

    private func make(_ file: DESFirePlan.File, in id: DESFireApplicationID) throws(DESFireProvisionError) {
        guard let place = DESFireFileID(id, file.number) else { return }
        if let found = applications[id]?.files.first(where: { $0.number == file.number }) {
            guard file.fits(found) else { throw .notVerified(place) }
            return note(.file(place), .already)
        }
        try open(DESFireKeyID(id, 0))
        try journal(.file(place))
        let creation = file.creation
        _ = try ask(creation.command, creation.data)
        let settings = try run { () throws(DESFireError) in try tag.settings(of: place) }
        guard file.fits(settings) else { throw .notVerified(place) }
        applications[id]?.files.append(settings)
        note(.file(place), .done)
    }

    // MARK: Contents

    private func writers(_ file: DESFirePlan.File) -> [DESFireAccess] {
        owners([file.rights[1], file.rights[0] >> 4])
    }

    private func readers(_ file: DESFirePlan.File) -> [DESFireAccess] {
        owners([file.rights[0] >> 4, file.rights[1] >> 4])
    }

    private func owners(_ nibbles: [UInt8]) -> [DESFireAccess] {
        nibbles.map { DESFireAccess(nibble: $0) }.filter { $0 != .nobody }
    }

    private func open(_ access: DESFireAccess, _ id: DESFireApplicationID) throws(DESFireProvisionError) {
        if case .key(let number) = access { try open(DESFireKeyID(id, number)) } else { try close(id) }
    }

    /// Whether a file has the contents of the plan; `nil` if nobody may read it.
    private func hasContents(
        _ file: DESFirePlan.File, in id: DESFireApplicationID
    ) throws(DESFireProvisionError) -> Bool? {
        guard let settings = applications[id]?.files.first(where: { $0.number == file.number }),
            let reader = readers(file).first
        else { return nil }
        try open(reader, id)
        return try run { () throws(DESFireError) in try tag.bytes(of: settings, 0, file.data.count) } == file.data
    }

    private func write(_ file: DESFirePlan.File, in id: DESFireApplicationID) throws(DESFireProvisionError) {
        guard let place = DESFireFileID(id, file.number), let writer = writers(file).first,
            let settings = applications[id]?.files.first(where: { $0.number == file.number })
        else { return }
        if try hasContents(file, in: id) == true { return note(.contents(place), .already) }
        try open(writer, id)
        try journal(.contents(place))
        try run { () throws(DESFireError) in try tag.write(settings, at: 0, file.data) }
        if settings.type == .backup { _ = try ask(.commit, []) }
        guard try hasContents(file, in: id) ?? true else { throw .notVerified(place) }
        note(.contents(place), .done)
    }

    // MARK: Settings

    private func set(_ id: DESFireApplicationID, to settings: UInt8) throws(DESFireProvisionError) {
        let now = id == .card ? card.settings : applications[id]?.settings
        guard now != settings else { return }
        try open(DESFireKeyID(id, 0))
        // A directory that is closed shows its settings to the owner of key 0.
        if now == nil, try shownSettings() == settings { return }
        try journal(.settings(id))
        _ = try ask(.changeKeySettings, [], data: [settings])
        guard try shownSettings() == settings else { throw .settingsNotVerified(id) }
        if id == .card { card.settings = settings } else { applications[id]?.settings = settings }
        note(.settings(id), .done)
    }

    private func shownSettings() throws(DESFireProvisionError) -> UInt8 {
        try run { () throws(DESFireError) in try tag.keySettings().settings }
    }

    // MARK: Resetting

    private func goBack(_ deletion: DESFirePlan.Deletion) throws(DESFireProvisionError) {
        let usesMaster = usesMaster || deletion.isFormat
        if usesMaster, card.settings != DESFirePlan.factorySettings {
            if (card.settings ?? 0x08) & 0x08 == 0 {
                result.left.append(.settings(.card))
            } else {
                try set(.card, to: DESFirePlan.factorySettings)
            }
        }
        for id in deletion.applications {
            guard applications[id] != nil else {
                note(.delete(id), .already)
                continue
            }
            try open(usesMaster ? .master : DESFireKeyID(id, 0))
            try journal(.delete(id))
            _ = try ask(.deleteApplication, id.bytes)
            applications[id] = nil
            if !usesMaster { selected = nil }
            note(.delete(id), .done)
        }
        if deletion.isFormat {
            try open(.master)
            try journal(.format)
            _ = try ask(.format, [])
            // The session may be over.
            selected = nil
            note(.format, .done)
        }
        guard isChanging(.master) else { return }
        if (card.settings ?? 0x01) & 0x01 == 0 {
            result.left.append(.key(.master))
        } else {
            try change(.master)
        }
    }

    // MARK: Reading back

    private func note(_ step: DESFireStep, _ state: TagStepResult.State) {
        result.steps.append(DESFireStepResult(step: step, state: state))
    }

    /// Reads everything back after the card was without power.
    private func readBack() throws(DESFireProvisionError) {
        try run { () throws(DESFireError) in
            do throws(TagError) {
                try restart()
            } catch {
                throw .tag(error)
            }
        }
        selected = nil
        link.session.forgetSelection()
        for planned in plan.applications { try readBack(planned) }
        for id in plan.deletion?.applications ?? [] where !result.left.contains(.delete(id)) {
            do throws(DESFireProvisionError) {
                try select(id)
                throw .settingsNotVerified(id)
            } catch .card(.noSuchApplication) {
                selected = nil
            }
        }
        if isChanging(.master), !result.left.contains(.key(.master)) { try proveNew(.master) }
        try select(.card)
        result.versions[.master] = try ask(.keyVersion, [0]).first
        if isChanging(.master), !result.left.contains(.key(.master)),
            result.versions[.master] != (try version(.master, .new))
        {
            throw .keyNotVerified(.master)
        }
        if let settings = plan.cardSettings, !result.left.contains(.settings(.card)), plan.deletion == nil || usesMaster
        {
            try open(.master)
            guard try shownSettings() == settings else { throw .settingsNotVerified(.card) }
        }
    }

    private func readBack(_ planned: DESFirePlan.Application) throws(DESFireProvisionError) {
        let id = planned.id
        for number in new.numbers(of: id).reversed() {
            let key = DESFireKeyID(id, number)
            try proveNew(key)
            guard try ask(.keyVersion, [number]) == [try version(key, .new)] else { throw .keyNotVerified(key) }
        }
        try open(DESFireKeyID(id, 0))
        var found = DESFireApplication(id)
        try run { () throws(DESFireError) in try tag.look(at: &found) }
        guard found.settings == planned.settings, found.keyType == planned.keyType, found.keyCount == planned.keyCount
        else { throw .settingsNotVerified(id) }
        for (number, version) in found.keyVersions.enumerated() {
            result.versions[DESFireKeyID(id, UInt8(truncatingIfNeeded: number))] = version
        }
        for file in planned.files {
            guard let place = DESFireFileID(id, file.number) else { continue }
            guard let settings = found.files.first(where: { $0.number == file.number }), file.fits(settings) else {
                throw .notVerified(place)
            }
            if file.data.isEmpty { continue }
            guard try hasContents(file, in: id) ?? true else { throw .notVerified(place) }
        }
    }

    // MARK: The card

    private func ask(
        _ command: DESFireCommand, _ header: [UInt8], data: [UInt8] = [], tail: [UInt8] = []
    ) throws(DESFireProvisionError) -> [UInt8] {
        try run { () throws(DESFireError) in
            try link.ask(command, header, data: data, tail: tail, count: command == .uid ? 7 : 0)
        }
    }

    private func run<Value>(_ body: () throws(DESFireError) -> Value) throws(DESFireProvisionError) -> Value {
        do throws(DESFireError) {
            return try body()
        } catch {
            throw .card(error)
        }
    }
}

extension DESFireKey {
    /// The bytes, which the caller overwrites.
    fileprivate func copy() -> [UInt8] { unsafe secret.withUnsafeBytes { unsafe Array($0) } }

    fileprivate func hasSameBytes(as other: DESFireKey) -> Bool {
        unsafe secret.withUnsafeBytes { own in
            unsafe other.secret.withUnsafeBytes { unsafe own.elementsEqual($0) }
        }
    }

    /// Whether it is the factory's; DES and Triple DES leave out the lowest bits.
    fileprivate func isZeros(_ type: DESFireKeyType) -> Bool {
        unsafe secret.withUnsafeBytes { bytes in unsafe bytes.allSatisfy { $0 & (type == .aes ? 0xFF : 0xFE) == 0 } }
    }
}
