// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Decodes a dump of an electronic passport. It never talks to a card, and no input can make it trap.
///
/// Source: ICAO Doc 9303-10; ISO/IEC 19794-5 for the record around the photo.
public enum PassportDecoder {
    /// Decodes a dump; `nil` when it is not of such a document.
    public static func decode(_ dump: CardDump) -> PassportReport? {
        guard let application = dump.application(PassportFile.application) else { return nil }
        var report = PassportReport()
        for file in PassportFile.allCases {
            // Whether a key file that is missing matters is a question about copies.
            report.read(file, application.file(file.id), mayBeRefused: file.isForCopies) { $0.add(file, $1) }
        }
        // Without EF.COM the signed list names the groups.
        if !report.hasIndex, let security = application.file(PassportFile.security.id), security.state == .read {
            report.dataGroups = PassportGroups.named(bySecurity: security.data)?.sorted() ?? []
        }
        return report
    }
}

extension PassportReport {
    fileprivate mutating func add(_ file: PassportFile, _ data: [UInt8]) {
        guard let header = try? BERHeader(data), header.tag == BERTag(rawValue: UInt32(file.tag)),
            header.totalLength == data.count
        else { return warn(file, .layout) }
        let objects = BERTLVList(tolerant: data.dropFirst(header.size))
        switch file {
        case .index: addIndex(objects)
        case .machineReadableZone:
            guard let value = objects[0x5F1F]?.value, let zone = MachineReadableZone(value) else {
                return warn(file, .layout)
            }
            machineReadableZone = zone
            if !zone.hasRightCheckDigits { warn(file, .checkDigit) }
        case .face:
            guard let record = FaceRecord(data) else { return warn(file, .layout) }
            photo = record.image
            if record.count > 1 { warn(file, .severalPhotos(record.count)) }
        case .security, .protocols, .chipKey: break
        }
    }

    private mutating func warn(_ file: PassportFile, _ reason: PassportWarning.Reason) {
        warnings.append(PassportWarning(file: file, reason: reason))
    }

    private mutating func addIndex(_ objects: BERTLVList) {
        guard let tags = objects[0x5C]?.value else { return warn(.index, .layout) }
        hasIndex = true
        version = objects[0x5F01].flatMap { CardText.ascii($0.value) }
        dataGroups = tags.compactMap { tag in PassportGroups.tags.firstIndex(of: tag).map { $0 + 1 } }
    }
}
