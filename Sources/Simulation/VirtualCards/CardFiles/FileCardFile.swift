// SPDX-License-Identifier: Apache-2.0

internal import CardCrypto
package import CardModel

/// Reads file-based cards, of type A or B, from `kazasu.card/1` and from dumps.
enum FileCardFile {
    private static let keys = Set(
        ["schema", "comment", "typeA", "typeB", "masterFile", "applications", "virtual"]
            + VirtualFileTree.applets.map { $0.name })

    static func load(_ root: JSONCursor) throws(DocumentError) -> VirtualFileCard {
        try root.allowOnly(keys)
        var tree = VirtualFileTree(
            masterFile: try root.optional("masterFile").map { json throws(DocumentError) in
                try VirtualDirectory(json: json)
            } ?? VirtualDirectory(),
            applications: try root.optional("applications")?.list { json throws(DocumentError) in
                try VirtualDirectory(json: json)
            } ?? [])
        for kind in VirtualFileTree.applets {
            guard let json = try root.optional(kind.name) else { continue }
            tree.applets.append(try kind.init(json: json, of: root))
        }
        try check(tree, root)
        let (options, isoDEP) = try FileCardOptions.read(root.optional("virtual"))
        let quirks = try CardQuirks(root.optional("virtual")?.optional("quirks"))
        let interface = try Self.interface(root).changed(by: quirks)
        return VirtualFileCard(interface, files: tree, options: options, isoDEP: isoDEP)
    }

    private static func interface(_ root: JSONCursor) throws(DocumentError) -> ISODEPInterface {
        guard let typeB = try root.optional("typeB") else { return try typeA(root.required("typeA")) }
        if let other = try root.optional("typeA") { throw other.malformed(.oneType) }
        try typeB.allowOnly(["pupi", "applicationData", "protocolInfo", "applicationFamily"])
        let pupi = try typeB.optional("pupi")
        let isRandom = pupi?.value == .string("random")
        let identity = TypeBIdentity(
            pupi: isRandom ? nil : try pupi?.bytes(count: 4),
            applicationData: try typeB.optional("applicationData")?.bytes(count: 4) ?? [0, 0, 0, 0],
            protocolInfo: try typeB.optional("protocolInfo")?.bytes() ?? TypeBIdentity.plainProtocolInfo,
            applicationFamily: try typeB.optional("applicationFamily")?.bytes(count: 1).first ?? 0)
        guard let identity else { throw typeB.malformed(.protocolInfo) }
        return .typeB(identity)
    }

    private static func typeA(_ json: JSONCursor) throws(DocumentError) -> ISODEPInterface {
        try json.allowOnly(["uid", "atqa", "sak", "ats"])
        let ats = try json.optional("ats")?.bytes() ?? ISODEPInterface.plainATS
        guard (1...20).contains(ats.count), ats.first == UInt8(ats.count) else {
            throw json.malformed(.ats)
        }
        return .typeA(try TypeAIdentity(json: json, sak: TypeACommand.speaksISODEP), ats: ats)
    }

    /// A PIN's name must be unique, and access rules may name no other.
    private static func check(_ tree: VirtualFileTree, _ root: JSONCursor) throws(DocumentError) {
        let directories = [tree.masterFile] + tree.applications
        let names = directories.flatMap { $0.pins.map(\.name) }
        let rights = tree.applets.flatMap { type(of: $0).rights }
        let known = Set(names + rights)
        guard known.count == names.count + rights.count else { throw root.malformed(.uniquePIN) }
        for access in directories.flatMap(\.files).flatMap({ [$0.read, $0.update] }) {
            if case .pins(let wanted) = access, !known.isSuperset(of: wanted) {
                throw root.malformed(.knownPINs, values: Array(wanted))
            }
        }
    }
}

extension FileCardOptions {
    private static let keys: Set<String> = [
        "longAnswers", "endlessMore", "endOfFile", "longestRead", "extendedLength", "refusedP2", "queryStatus",
        "unknownReference", "answers", "statusWords", "longestAnswer", "waitingTimeExtensions",
        "waitingTimeMultiplier", "answerMilliseconds", "faults", "quirks",
    ]

    /// Reads `virtual` of a file-based card.
    package static func read(_ json: JSONCursor?) throws(DocumentError) -> (FileCardOptions, ISODEPOptions) {
        var options = FileCardOptions()
        var isoDEP = ISODEPOptions()
        guard let json else { return (options, isoDEP) }
        try json.allowOnly(keys)
        try options.readForms(json)
        try options.readAnswers(json)
        let quirks = try CardQuirks(
            json.optional("quirks"), [.twoCards] + ISODEPOptions.quirks + ISODEPInterface.quirks)
        try isoDEP.apply(quirks)
        if quirks.has(.withoutLe) { options.selectionWithLe = StatusWord.wrongLength }
        if quirks.has(.onlyWithLe) { options.selectionWithoutLe = StatusWord.fileNotFound }
        if quirks.has(.exactLe) { options.longAnswers = .wrongLength }
        if quirks.has(.fetchedAnswers) { options.longAnswers = .more }
        if let count = try json.optional("waitingTimeExtensions") {
            isoDEP.waitingTimeExtensions =
                count.value == .string("endless") ? Int.max : try count.integer(in: 0...1_000)
        }
        if let factor = try json.optional("waitingTimeMultiplier") {
            isoDEP.waitingTimeMultiplier = UInt8(clamping: try factor.integer(in: 0...63))
        }
        if let time = try json.optional("answerMilliseconds") {
            isoDEP.answerTime = .milliseconds(try time.integer(in: 0...60_000))
        }
        return (options, isoDEP)
    }

    private mutating func readForms(_ json: JSONCursor) throws(DocumentError) {
        if let word = try json.optional("longAnswers") {
            longAnswers = try word.word(
                Dictionary(uniqueKeysWithValues: LongAnswers.allCases.map { ($0.rawValue, $0) }))
        }
        if let word = try json.optional("endOfFile") {
            endOfFile = try word.word(Dictionary(uniqueKeysWithValues: EndOfFile.allCases.map { ($0.rawValue, $0) }))
        }
        if let value = try json.optional("endlessMore") { endlessMore = try value.bool() }
        if let value = try json.optional("longestRead") { longestRead = try value.integer(in: 0...65_536) }
        if let value = try json.optional("longestAnswer") { longestAnswer = try value.integer(in: 0...65_538) }
        if let value = try json.optional("extendedLength") { takesExtendedLength = try value.bool() }
        if let list = try json.optional("refusedP2") {
            refusedSelections = Set(
                try list.list { value throws(DocumentError) in try value.bytes(count: 1).first ?? 0 })
        }
    }

    private mutating func readAnswers(_ json: JSONCursor) throws(DocumentError) {
        if let value = try json.optional("queryStatus") { queryStatus = try value.code(FileIdentifier.self).rawValue }
        if let value = try json.optional("unknownReference") {
            unknownReferenceStatus = try value.code(FileIdentifier.self).rawValue
        }
        for (key, value) in try json.optional("answers")?.members() ?? [] {
            guard let command = JSONCursor(.string(key)).hexadecimal, !command.isEmpty else {
                throw value.malformed(.commandName)
            }
            if case .string = value.value {
                answers[command] = [try value.bytes(atMost: 65_538)]
            } else {
                answers[command] = try value.list { answer throws(DocumentError) in try answer.bytes(atMost: 65_538) }
            }
        }
        for (key, value) in try json.optional("statusWords")?.members() ?? [] {
            guard let code = JSONCursor(.string(key)).hexadecimal, code.count == 1 else {
                throw value.malformed(.instructionName)
            }
            instructionStatus[code[0]] = try value.code(FileIdentifier.self).rawValue
        }
    }
}

extension VirtualDirectory {
    private static let keys: Set<String> = [
        "aid", "id", "information", "locked", "pins", "files", "dataObjects", "comment",
    ]

    /// Reads `masterFile` or an element of `applications`.
    init(json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(VirtualDirectory.keys)
        self.init(
            name: try json.optional("aid")?.aid(), id: try json.optional("id")?.code(),
            information: try json.optional("information")?.bytes(atMost: 4096) ?? [],
            isLocked: try json.optional("locked")?.bool() ?? false)
        for (name, value) in try json.optional("pins")?.members() ?? [] {
            pins.append(try VirtualPIN(name: name, json: value))
        }
        for (key, value) in try json.optional("files")?.members() ?? [] {
            guard let id = FileIdentifier(key) else { throw value.malformed(.hexName, "4") }
            files.append(try VirtualFile(id: id, json: value))
        }
        for (key, value) in try json.optional("dataObjects")?.members() ?? [] {
            guard let tag = FileIdentifier(key) else { throw value.malformed(.parametersName) }
            dataObjects[tag.rawValue] = try value.bytes(atMost: 65_535)
        }
    }
}

extension VirtualFile {
    private static let keys: Set<String> = [
        "shortID", "data", "size", "fill", "records", "read", "update", "encrypted", "comment",
    ]
    /// Offsets of 15 bits and two bytes more than that: all that READ BINARY can ever reach.
    private static let longest = 65_536

    /// Reads one file: either its bytes or an object.
    init(id: FileIdentifier, json: JSONCursor) throws(DocumentError) {
        if case .string = json.value {
            self.init(id, .bytes(try json.bytes(atMost: VirtualFile.longest)))
            return
        }
        try json.allowOnly(VirtualFile.keys)
        let content: Content
        if let list = try json.optional("records") {
            content = .records(try list.list { record throws(DocumentError) in try record.bytes(atMost: 65_535) })
        } else {
            var bytes = try json.optional("data")?.bytes(atMost: VirtualFile.longest) ?? []
            let size = try json.optional("size")?.integer(in: bytes.count...VirtualFile.longest) ?? bytes.count
            let fill = try json.optional("fill")?.bytes(count: 1).first ?? 0x00
            bytes += [UInt8](repeating: fill, count: size - bytes.count)
            content = .bytes(bytes)
        }
        self.init(
            id,
            shortID: try json.optional("shortID").map { number throws(DocumentError) in
                UInt8(clamping: try number.integer(in: 1...30))
            }, content,
            read: try json.optional("read").map { rule throws(DocumentError) in
                try FileAccess(json: rule)
            } ?? .always,
            update: try json.optional("update").map { rule throws(DocumentError) in try FileAccess(json: rule) }
                ?? .never(),
            isEncrypted: try json.optional("encrypted")?.bool() ?? false)
    }
}

extension FileAccess {
    /// `always`, `never`, a status word, or the names of PINs.
    init(json: JSONCursor) throws(DocumentError) {
        switch json.value {
        case .array: self = .pins(try json.list { name throws(DocumentError) in try name.text() })
        case .string("always"): self = .always
        case .string("never"): self = .never()
        default:
            let status: FileIdentifier? = json.text(as: FileIdentifier.self)
            guard let status else { throw json.malformed(.accessRule) }
            self = .never(status: status.rawValue)
        }
    }
}

extension VirtualPIN {
    private static let keys: Set<String> = [
        "id", "reference", "text", "value", "tries", "left", "lockedStatus", "tellsTries", "comment",
    ]

    /// Reads one element of `pins`.
    init(name: String, json: JSONCursor) throws(DocumentError) {
        try json.allowOnly(VirtualPIN.keys)
        let value: [UInt8]
        if let text = try json.optional("text") {
            value = Array(try text.text().utf8)
        } else {
            value = try json.required("value").bytes()
        }
        guard (1...64).contains(value.count) else { throw json.malformed(.pin) }
        let tries = try json.optional("tries")?.integer(in: 1...15) ?? 3
        let locked: FileIdentifier? = try json.optional("lockedStatus")?.code()
        self.init(
            name: name, id: try json.optional("id")?.code(),
            reference: try json.optional("reference")?.bytes(count: 1).first, value: value, tries: tries,
            triesLeft: try json.optional("left")?.integer(in: 0...15), lockedStatus: locked?.rawValue ?? 0x6983,
            tellsTries: try json.optional("tellsTries")?.bool() ?? true)
    }
}

extension ISODEPOptions {
    /// The quirks of APDUs and of the blocks below them.
    static let quirks: [CardQuirks.Name] = [
        .ratsRefused, .ratsMute, .withoutLe, .onlyWithLe, .exactLe, .fetchedAnswers, .moreTime, .powerLevel,
        .withoutDeselect, .withoutNAK, .longAttribute, .ratesIgnored, .ratesUnheard, .ratesDamaged,
    ]

    fileprivate mutating func apply(_ quirks: CardQuirks) throws(DocumentError) {
        if quirks.has(.ratsRefused) { requestAnswer = .refusal }
        if quirks.has(.ratsMute) { requestAnswer = .silence }
        if let count = try quirks.number(.moreTime, usual: 10) {
            (waitingTimeExtensions, waitingTimeMultiplier) = (Int(count), 59)
        }
        if quirks.has(.powerLevel) { (waitingTimeExtensions, powerLevel) = (max(1, waitingTimeExtensions), 0x80) }
        if quirks.has(.ratesIgnored) { fasterRates = .ignored }
        if quirks.has(.ratesUnheard) { fasterRates = .unheard }
        if quirks.has(.ratesDamaged) { fasterRates = .damaged }
        if quirks.has(.withoutDeselect) { answersDeselect = false }
        if quirks.has(.withoutNAK) { answersNAK = false }
        if quirks.has(.longAttribute) { (bufferSize, attributeData) = (0x30, [0x00, 0x81, 0x80]) }
    }
}

extension ISODEPInterface {
    /// The quirks of the selection.
    static let quirks: [CardQuirks.Name] =
        [.smallFrames, .emptyATS, .randomUID, .withoutISODEP, .longATQB, .reservedTime, .withoutCID]
        + TypeAIdentity.quirks

    /// The same card with these quirks.
    func changed(by quirks: CardQuirks) -> ISODEPInterface {
        switch self {
        case .typeA(var identity, var ats):
            identity.apply(quirks)
            if quirks.has(.randomUID) { identity = .random(atqa: identity.atqa, sak: identity.sak) }
            if quirks.has(.smallFrames), ats.count > 1 { ats[1] = ats[1] & 0xF0 | 0x02 }
            if quirks.has(.emptyATS) { ats = [0x01] }
            return .typeA(identity, ats: ats)
        case .typeB(let identity):
            var info = identity.protocolInfo
            if quirks.has(.smallFrames) { info[1] = info[1] & 0x0F | 0x20 }
            if quirks.has(.withoutISODEP) { info[1] &= 0xFE }
            if quirks.has(.reservedTime) { info[2] |= 0xF0 }
            if quirks.has(.withoutCID) { info[2] &= 0xFE }
            if quirks.has(.longATQB), info.count == 3 { info.append(0x00) }
            guard
                var changed = TypeBIdentity(
                    pupi: identity.pupi, applicationData: identity.applicationData, protocolInfo: info,
                    applicationFamily: identity.applicationFamily)
            else { return self }
            changed.startsWithoutISODEP = quirks.has(.withoutISODEP)
            return .typeB(changed)
        }
    }
}
