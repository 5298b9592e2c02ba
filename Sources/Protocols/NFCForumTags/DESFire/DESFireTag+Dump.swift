// SPDX-License-Identifier: Apache-2.0

/// Everything on a DESFire that everybody or the given keys may read.
public struct DESFireDump: Hashable, Sendable {
    /// Applications, keys and files; what none of the keys opens is withheld.
    public internal(set) var information: DESFireInformation
    /// The contents of the files that were read.
    public internal(set) var contents: [DESFireFileID: DESFireContents] = [:]
    /// The keys that the card refused, each tried once.
    public internal(set) var refusedKeys: [RefusedKey] = []
    /// Why reading ended early; `nil` if it did not.
    package internal(set) var interruption: DESFireError?

    /// A key that the card refused.
    public struct RefusedKey: Hashable, Sendable {
        /// The application; 000000 for the card itself.
        public let application: DESFireApplicationID
        /// The number of the key.
        public let number: UInt8
    }
}

extension DESFireTag {
    /// Reads every file that everybody or one of the keys may read. Each key is tried at most once, and only where it has a
    /// right that is needed.
    package func dump(_ keys: DESFireKeys) throws(DESFireError) -> DESFireDump {
        var dump = DESFireDump(information: try information())
        do throws(DESFireError) {
            try openList(keys, &dump)
            for place in dump.information.applications.indices { try read(place, keys, &dump) }
        } catch {
            dump.interruption = error
        }
        return dump
    }

    /// Lists the applications with the master key, if the card does not list them to everybody.
    private func openList(_ keys: DESFireKeys, _ dump: inout DESFireDump) throws(DESFireError) {
        let closed = DESFireWithheld(.card, .applications)
        guard dump.information.withheld.contains(closed) else { return }
        try link.select(.card)
        guard try open(0, of: dump.information.card, keys, &dump),
            let bytes = try free({ () throws(DESFireError) in try link.ask(.applications) })
        else { return }
        dump.information.withheld.removeAll { $0 == closed }
        try listApplications(bytes, into: &dump.information)
    }

    /// Authenticates in the selected application with a key, unless the card refused it before.
    private func open(
        _ number: UInt8, of application: DESFireApplication, _ keys: DESFireKeys, _ dump: inout DESFireDump
    ) throws(DESFireError) -> Bool {
        let refused = DESFireDump.RefusedKey(application: application.id, number: number)
        guard let key = keys.key(number, of: application.id, application.keyType), !dump.refusedKeys.contains(refused)
        else { return false }
        if link.keyNumber == number { return true }
        do throws(DESFireError) {
            try authenticate(key, application.keyType, nil)
            return true
        } catch {
            switch error {
            case .wrongKey, .noSuchKey, .keyLength, .otherMethod: break
            default: throw error
            }
            dump.refusedKeys.append(refused)
            return false
        }
    }

    /// Reads the files of an application.
    private func read(_ place: Int, _ keys: DESFireKeys, _ dump: inout DESFireDump) throws(DESFireError) {
        var application = dump.information.applications[place]
        let id = application.id
        try link.select(id)
        let isClosed = dump.information.withheld.contains { $0.application == id }
        if isClosed, try open(0, of: application, keys, &dump) {
            dump.information.withheld.removeAll { $0.application == id }
            application.keyVersions = []
            try look(at: &application, &dump.information.withheld)
            application.files = []
            try list(&application, &dump.information.withheld)
            dump.information.applications[place] = application
        }
        for settings in application.files {
            guard let file = DESFireFileID(id, settings.number) else { continue }
            if let contents = try contents(settings, of: application, keys, &dump) {
                dump.contents[file] = contents
            } else {
                dump.information.withheld.append(DESFireWithheld(id, .contents, file: settings.number))
            }
        }
    }

    /// The contents of a file; `nil` if none of the keys opens it.
    private func contents(
        _ file: DESFireFile, of application: DESFireApplication, _ keys: DESFireKeys, _ dump: inout DESFireDump
    ) throws(DESFireError) -> DESFireContents? {
        let owners = file.owners(of: .read)
        if !owners.contains(.everybody) {
            var isOpen = false
            for case .key(let number) in owners where !isOpen {
                isOpen = try open(number, of: application, keys, &dump)
            }
            guard isOpen else { return nil }
        }
        do throws(DESFireError) {
            return try contents(file)
        } catch .refused {
            return nil
        } catch {
            throw error
        }
    }
}
