// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// A DESFire that is made from a dump.
///
/// The dump contains no keys, so that nobody knows those of the card. Everybody may list and read what the dump contains;
/// what was withheld stays withheld, and is refused.
extension VirtualDESFire {
    /// Makes the card of a dump; `nil` if its versions are those of no DESFire.
    init?(_ memory: DESFireMemory, of identity: CardIdentity) {
        let major = memory.software[3] & 0x0F
        guard Int(major) < Generation.allCases.count else { return nil }
        let uid = identity.uid ?? []
        self.init(
            Generation.allCases[Int(major)], uid: uid.count == 7 ? uid : [UInt8](repeating: 0, count: 7),
            card: Application(
                memory.card, isListed: !memory.isWithheld(.applications, of: 0) && !memory.isWithheld(.settings, of: 0))
        )
        savedVersion = [memory.hardware, memory.software]
        isUIDHidden = uid.count != 7
        if let free = memory.freeMemory { freeMemory = free }
        applications = memory.applications.map { application in
            let isClosed = [.files, .settings, .fileSettings].contains { memory.isWithheld($0, of: application.id) }
            return Application(application, isListed: !isClosed)
        }
    }
}

extension VirtualDESFire {
    /// The files whose contents differ since a card was read from a dump.
    func files(since before: VirtualDESFire) -> [(application: [UInt8], number: UInt8, file: File)] {
        applications.flatMap { application in
            let old = before.applications.first { $0.id == application.id }
            return application.files.sorted { $0.key < $1.key }.compactMap { number, file in
                old?.files[number] == file ? nil : (application.id, number, file)
            }
        }
    }
}

extension DESFireMemory.Application {
    /// Its number as virtual cards have it: three bytes, most significant first.
    var idBytes: [UInt8] { [16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) } }
}

extension VirtualDESFire.Application {
    /// Bit 1 of the settings: lists and settings are free.
    private static let listsAreFree: UInt8 = 0x02

    fileprivate init(_ application: DESFireMemory.Application, isListed: Bool) {
        let kind = application.keyType.flatMap { DESFireChipKey.Kind(rawValue: $0) } ?? .aes
        let count = max(1, application.keyCount ?? 1, application.keyVersions.count)
        let settings = application.settings ?? 0x09
        self.init(
            id: application.idBytes, settings: isListed ? settings | Self.listsAreFree : settings & ~Self.listsAreFree,
            // Nobody knows them: each is made up when the card is.
            keys: (0..<count).map { _ in
                DESFireChipKey(kind, (0..<kind.length).map { _ in UInt8.random(in: 0...255) })
            }, versions: application.keyVersions)
        name = application.name ?? []
        for file in application.files { files[file.number] = VirtualDESFire.File(file) }
    }
}

extension VirtualDESFire.File {
    /// Makes a file of a dump; `nil` for one that virtual cards do not have.
    fileprivate init?(_ file: DESFireMemory.File) {
        let kinds: [DESFireMemory.File.Kind: Kind] = [
            .standard: .standard, .backup: .backup, .value: .value, .linear: .linear, .cyclic: .cyclic,
        ]
        guard let kind = kinds[file.kind], file.rights.count == 4 else { return nil }
        let (write, both, change) = (file.rights[1], file.rights[2], file.rights[3])
        // A key that nobody knows cannot read what the dump has: everybody can.
        let isRead = file.contents != nil && ![file.rights[0], both].contains(Self.everybody)
        let read = isRead ? Self.everybody : file.rights[0]
        self.init(kind: kind, mode: file.mode, rights: [both << 4 | change, read << 4 | write])
        (lower, upper, limitedCredit) = (file.limits.lowerBound, file.limits.upperBound, file.hasLimitedCredit)
        (recordSize, maxRecords) = (file.size, file.maxRecords)
        switch file.contents {
        case .data(let data): bytes = data
        case .value(let value): self.value = value
        case .records(let records): self.records = records
        case nil where kind == .standard || kind == .backup:
            bytes = [UInt8](repeating: 0, count: min(file.size, Self.largest))
        case nil:
            // GetFileSettings says how many there are; nobody may read them.
            let count = min(file.recordCount, Self.largest / max(1, file.size))
            records = [[UInt8]](repeating: [UInt8](repeating: 0, count: file.size), count: count)
        }
    }

    private static let everybody: UInt8 = 0x0E
    /// The most bytes that are made up for a file that was not read.
    private static let largest = 0x1_0000
}
