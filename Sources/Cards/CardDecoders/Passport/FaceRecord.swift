// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The photos in DG2: 75 { 7F61 { 02 count, 7F60 { A1 header, 5F2E or 7F2E record } … } }.
///
/// A record is that of ISO/IEC 19794-5, or the BER of ISO/IEC 39794-5, which new documents may have since 2026.
struct FaceRecord {
    /// The first image, JPEG or JPEG 2000.
    let image: [UInt8]
    /// The number of images.
    let count: Int

    /// Finds the images; `nil` if there is none.
    init?(_ file: [UInt8]) {
        guard let group = BERTLVList(tolerant: file)[0x75], let list = group[0x7F61], let template = list[0x7F60],
            let record = template[0x5F2E] ?? template[0x7F2E]
        else { return nil }
        let templates = list.children?.count { $0.tag == 0x7F60 } ?? 1
        if let image = Self.newImage(record) {
            (self.image, count) = (image, templates)
        } else if let (image, faces) = Self.oldImage(record.value) {
            (self.image, count) = (image, templates > 1 ? templates : faces)
        } else if let start = record.value.indices.first(where: { Self.isImage(record.value[$0...]) }) {
            // Some records have other headers.
            (image, count) = (Array(record.value[start...]), templates)
        } else {
            return nil
        }
    }

    /// ISO/IEC 39794-5 and its application profile: the first representation's image; nothing behind it belongs to it.
    private static func newImage(_ record: BERTLV) -> [UInt8]? {
        guard record.tag == 0x7F2E else { return nil }
        let path: [BERTag] = [0xA1, 0x65, 0xA1, 0x30, 0xA1, 0xA0, 0xA0, 0x80]
        var object = record
        for tag in path {
            guard let next = object[tag] else { return nil }
            object = next
        }
        return isImage(object.value[...]) ? object.value : nil
    }

    /// `FAC`, version, length 4, number of faces 2; then of the first face its length 4, the number of feature points 2, 14 bytes, 8
    /// bytes a point, 12 bytes about the image, and the image.
    ///
    /// The lengths of the record are one or eight bytes too small in some British and New Zealand passports: a single image ends with
    /// the data object.
    private static func oldImage(_ record: [UInt8]) -> (image: [UInt8], faces: Int)? {
        guard record.starts(with: [0x46, 0x41, 0x43, 0x00]), record.count >= 34 else { return nil }
        let faces = Int(record[12]) << 8 | Int(record[13])
        let length = record[14..<18].reduce(0) { $0 << 8 | Int($1) }
        let points = Int(record[18]) << 8 | Int(record[19])
        let start = 34 + 8 * points + 12
        let end = faces > 1 ? 14 + length : record.count
        guard start < end, end <= record.count, isImage(record[start...]) else { return nil }
        return (Array(record[start..<end]), faces)
    }

    private static func isImage(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: [0xFF, 0xD8, 0xFF]) || bytes.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
            || bytes.starts(with: [0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50, 0x20, 0x20])
    }
}
