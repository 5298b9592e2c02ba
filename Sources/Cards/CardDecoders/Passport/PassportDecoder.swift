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
            guard let found = application.file(file.id) else { continue }
            switch found.state {
            case .read: report.add(file, found.data)
            case .keyRequired: report.withheld.append(file)
            case .refused(let status): report.warnings.append(PassportWarning(file: file, reason: .refused(status)))
            case .lost: report.warnings.append(PassportWarning(file: file, reason: .lost))
            case .skipped: break
            }
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
            photo = FaceRecord.image(in: data)
            if photo == nil { warn(file, .layout) }
        case .security: break
        }
    }

    private mutating func warn(_ file: PassportFile, _ reason: PassportWarning.Reason) {
        warnings.append(PassportWarning(file: file, reason: reason))
    }

    private mutating func addIndex(_ objects: BERTLVList) {
        guard let tags = objects[0x5C]?.value else { return warn(.index, .layout) }
        version = objects[0x5F01].flatMap { CardText.ascii($0.value) }
        dataGroups = tags.compactMap { tag in Self.tags.firstIndex(of: tag).map { $0 + 1 } }
    }

    /// The tags of the data groups 1 to 16.
    private static let tags: [UInt8] = [
        0x61, 0x75, 0x63, 0x76, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70,
    ]
}

/// The record that holds a photo in DG2: 75 { 7F61 { 02 count, 7F60 { A1 header, 5F2E or 7F2E record } } }.
enum FaceRecord {
    /// The first image, JPEG or JPEG 2000; `nil` if there is none.
    static func image(in file: [UInt8]) -> [UInt8]? {
        guard let record = record(in: file) else { return nil }
        if let image = faceImage(in: record) { return image }
        // Some records have other headers.
        let start = record.indices.first { isImage(record[$0...]) }
        return start.map { Array(record[$0...]) }
    }

    private static func record(in file: [UInt8]) -> [UInt8]? {
        guard let group = BERTLVList(tolerant: file)[0x75], let list = group[0x7F61],
            let template = list[0x7F60]
        else { return nil }
        guard let record = template[0x5F2E] ?? template[0x7F2E] else { return nil }
        // 7F2E may hold a template of its own; the record is found in it all the same.
        return record.value
    }

    /// `FAC`, version, length 4, number of faces 2; then of the first face its length 4, the number of feature points 2, 14 bytes, 8
    /// bytes a point, 12 bytes about the image, and the image.
    private static func faceImage(in record: [UInt8]) -> [UInt8]? {
        guard record.starts(with: [0x46, 0x41, 0x43, 0x00]), record.count >= 34 else { return nil }
        let length = record[14..<18].reduce(0) { $0 << 8 | Int($1) }
        let points = Int(record[18]) << 8 | Int(record[19])
        let start = 34 + 8 * points + 12
        let end = 14 + length
        guard start < end, end <= record.count, isImage(record[start...]) else { return nil }
        return Array(record[start..<end])
    }

    private static func isImage(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
            || bytes.starts(with: [0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20])
    }
}
