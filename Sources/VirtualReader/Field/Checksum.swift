// SPDX-License-Identifier: Apache-2.0

/// The CRC of a frame on air, whatever its technology.
enum Checksum {
    static func bytes(of frame: [UInt8], _ technology: RadioTechnology) -> [UInt8] {
        switch technology {
        case .felica: FeliCaChecksum.bytes(of: frame)
        case .typeA, .typeB: ISOChecksum.bytes(of: frame, technology)
        }
    }
}
