// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// A DESFire as a dump describes it.
extension DESFireInformation {
    /// Reads what a dump contains; `nil` if its versions are not those of a DESFire.
    package init?(_ memory: DESFireMemory) {
        guard let version = DESFireVersion(hardware: memory.hardware, software: memory.software),
            let card = DESFireApplication(memory.card)
        else { return nil }
        self.init(version: version, card: card)
        freeMemory = memory.freeMemory
        applications = memory.applications.compactMap { DESFireApplication($0) }
        withheld = memory.withheld.compactMap { DESFireWithheld($0) }
        savedOriginality = Originality(
            memory.originality.flatMap { Originality.State(rawValue: $0) } ?? .absent, key: memory.originalityKey)
    }
}

extension DESFireApplication {
    fileprivate init?(_ application: DESFireMemory.Application) {
        guard let id = DESFireApplicationID(rawValue: application.id) else { return nil }
        self.init(id)
        settings = application.settings
        keyType = application.keyType.flatMap { DESFireKeyType(rawValue: $0) }
        keyCount = application.keyCount
        keyVersions = application.keyVersions
        name = application.name
        files = application.files.compactMap { DESFireFile($0) }
    }
}

extension DESFireWithheld {
    fileprivate init?(_ withheld: DESFireMemory.Withheld) {
        guard let id = DESFireApplicationID(rawValue: withheld.application),
            let part = Part(rawValue: withheld.part.rawValue)
        else { return nil }
        self.init(id, part, file: withheld.file)
    }
}

extension DESFireFile {
    /// Makes the settings in a dump.
    package init?(_ file: DESFireMemory.File) {
        guard let type = DESFireFileType(rawValue: file.kind.rawValue), file.rights.count == 4 else { return nil }
        number = file.number
        self.type = type
        mode = DESFireMode(option: file.mode)
        (read, write) = (DESFireAccess(nibble: file.rights[0]), DESFireAccess(nibble: file.rights[1]))
        (readWrite, change) = (DESFireAccess(nibble: file.rights[2]), DESFireAccess(nibble: file.rights[3]))
        extent =
            switch file.kind {
            case .standard, .backup, .transactionMAC: .bytes(file.size)
            case .value:
                .value(
                    lower: file.limits.lowerBound, upper: file.limits.upperBound, limitedCredit: file.hasLimitedCredit)
            case .linear, .cyclic: .records(size: file.size, maximum: file.maxRecords, count: file.recordCount)
            }
    }
}

extension DESFireMemory {
    /// The contents of the files that were read.
    package var contents: [DESFireFileID: DESFireContents] {
        var contents: [DESFireFileID: DESFireContents] = [:]
        for application in applications {
            guard let id = DESFireApplicationID(rawValue: application.id) else { continue }
            for file in application.files {
                guard let place = DESFireFileID(id, file.number), let found = file.contents else { continue }
                contents[place] =
                    switch found {
                    case .data(let bytes): .data(bytes)
                    case .value(let value): .value(value)
                    case .records(let records): .records(records)
                    }
            }
        }
        return contents
    }
}
