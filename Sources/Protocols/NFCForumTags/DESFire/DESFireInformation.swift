// SPDX-License-Identifier: Apache-2.0

/// What a DESFire shows without a key.
public struct DESFireInformation: Hashable, Sendable {
    /// Versions of hardware and software, and the UID.
    public let version: DESFireVersion
    /// The free bytes; `nil` if the card does not say (MF3ICD40).
    public internal(set) var freeMemory: Int?
    /// The signature over the UID; empty without one.
    package internal(set) var signature: [UInt8] = []
    /// The result in a dump, which does not contain the signature.
    var savedOriginality: Originality?
    /// The settings of the card itself.
    public internal(set) var card: DESFireApplication
    /// The applications, in the order of the card.
    public internal(set) var applications: [DESFireApplication] = []
    /// What the card does not list without a key.
    public internal(set) var withheld: [DESFireWithheld] = []

    /// The result of checking the signature over the UID.
    public var originality: Originality {
        if let savedOriginality { return savedOriginality }
        guard !signature.isEmpty else { return Originality(.absent) }
        guard let uid = version.uid else { return Originality(notChecked: .randomUID) }
        return Originality(signature: signature, uid: uid, isKnown: true)
    }
}

/// An application, or the card itself with its master key.
public struct DESFireApplication: Hashable, Sendable {
    /// Its number; 000000 for the card itself.
    public let id: DESFireApplicationID
    /// Bit 0: key 0 can be changed; 1: lists are free; 2: creating and deleting is free; 3: these settings can be changed; bits
    /// 7 to 4: the key that changes keys. `nil` if the card does not tell.
    public internal(set) var settings: UInt8?
    /// The type of its keys; `nil` if the card does not tell.
    public internal(set) var keyType: DESFireKeyType?
    /// The number of its keys; `nil` if the card does not tell.
    public internal(set) var keyCount: Int?
    /// The versions of its keys, by number.
    public internal(set) var keyVersions: [UInt8] = []
    /// The DF name of ISO 7816; `nil` without one.
    public internal(set) var name: [UInt8]?
    /// The files, in the order of the card.
    public internal(set) var files: [DESFireFile] = []

    init(_ id: DESFireApplicationID) { self.id = id }
}

/// Something that a card does not list without a key.
public struct DESFireWithheld: Hashable, Sendable {
    /// What it is; the raw values are those of documents.
    @nonexhaustive
    public enum Part: String, Hashable, Sendable {
        /// The settings of an application or of the card.
        case settings
        /// The list of the card's applications.
        case applications
        /// The list of an application's files.
        case files
        /// The settings of a file.
        case fileSettings
        /// The contents of a file.
        case contents
    }

    /// The application; 000000 for the card itself.
    public let application: DESFireApplicationID
    /// What is not listed.
    public let part: Part
    /// The number of the file; `nil` for other parts.
    public let file: UInt8?

    package init(_ application: DESFireApplicationID, _ part: Part, file: UInt8? = nil) {
        (self.application, self.part, self.file) = (application, part, file)
    }
}

extension DESFireTag {
    /// The most applications that are listed, and the frames that they come in.
    private static let mostApplications = 256

    /// Looks at what the card shows to everybody; no key is sent.
    package func information() throws(DESFireError) -> DESFireInformation {
        let version = try identify()
        var information = DESFireInformation(version: version, card: DESFireApplication(.card))
        try link.select(.card)
        try look(at: &information.card, &information.withheld)
        information.freeMemory = try known { () throws(DESFireError) in try link.ask(.freeMemory) }.flatMap { bytes in
            bytes.count == 3 ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
        }
        information.signature = try signature(version)
        guard let bytes = try free({ () throws(DESFireError) in try link.ask(.applications) }) else {
            information.withheld.append(DESFireWithheld(.card, .applications))
            return information
        }
        try listApplications(bytes, into: &information)
        return information
    }

    /// Looks at the applications of a list.
    func listApplications(_ bytes: [UInt8], into information: inout DESFireInformation) throws(DESFireError) {
        guard bytes.count.isMultiple(of: 3), bytes.count / 3 <= Self.mostApplications else { throw .tag(.badAnswer) }
        let names = try self.names()
        for place in stride(from: 0, to: bytes.count, by: 3) {
            guard let id = DESFireApplicationID(bytes: bytes[place..<place + 3]) else { throw .tag(.badAnswer) }
            var application = DESFireApplication(id)
            application.name = names[id]
            try link.select(id)
            try look(at: &application, &information.withheld)
            try list(&application, &information.withheld)
            information.applications.append(application)
        }
    }

    /// Reads settings and versions of keys of what is selected.
    func look(
        at application: inout DESFireApplication, _ withheld: inout [DESFireWithheld]
    ) throws(DESFireError) {
        if let found = try free({ () throws(DESFireError) in try keySettings() }) {
            (application.settings, application.keyType) = (found.settings, found.type)
            application.keyCount = application.id == .card ? 1 : Int(found.keys)
        } else {
            withheld.append(DESFireWithheld(application.id, .settings))
        }
        for number in 0..<UInt8(clamping: application.keyCount ?? 1) {
            let answer = try known { () throws(DESFireError) in try link.ask(.keyVersion, [number]) }
            guard let version = answer?.first else { break }
            application.keyVersions.append(version)
        }
    }

    /// Reads the settings of the files of the selected application.
    func list(
        _ application: inout DESFireApplication, _ withheld: inout [DESFireWithheld]
    ) throws(DESFireError) {
        guard let numbers = try free({ () throws(DESFireError) in try link.ask(.files) }) else {
            withheld.append(DESFireWithheld(application.id, .files))
            return
        }
        for number in numbers {
            guard let file = DESFireFileID(application.id, number) else { throw .tag(.badAnswer) }
            if let settings = try free({ () throws(DESFireError) in try settings(of: file) }) {
                application.files.append(settings)
            } else {
                withheld.append(DESFireWithheld(application.id, .fileSettings, file: number))
            }
        }
    }

    /// The DF names of the applications that have one. A card that gives none has none.
    private func names() throws(DESFireError) -> [DESFireApplicationID: [UInt8]] {
        let frames =
            try known { () throws(DESFireError) in try link.frames(.names, atMost: Self.mostApplications) } ?? []
        var names: [DESFireApplicationID: [UInt8]] = [:]
        for frame in frames where frame.count > 5 {
            guard let id = DESFireApplicationID(bytes: frame.prefix(3)) else { continue }
            names[id] = Array(frame.dropFirst(5))
        }
        return names
    }

    /// The signature over the UID that EV2 and EV3 have; empty without one.
    private func signature(_ version: DESFireVersion) throws(DESFireError) -> [UInt8] {
        guard version.generation >= 2 else { return [] }
        let answer = try link.askOnce(0x3C, [0x00])
        return [0x00, 0x90].contains(answer.status) && answer.data.count == Originality.isoLength ? answer.data : []
    }

    /// Does something that older cards refuse; `nil` if the card does.
    private func known<Value>(_ body: () throws(DESFireError) -> Value) throws(DESFireError) -> Value? {
        do throws(DESFireError) {
            return try body()
        } catch .refused {
            return nil
        } catch {
            throw error
        }
    }
}
