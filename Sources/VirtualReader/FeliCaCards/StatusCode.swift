// SPDX-License-Identifier: Apache-2.0

/// What status flag 2 says; the codes are those of the FeliCa documents.
enum StatusCode {
    static let purseOutOfRange: UInt8 = 0x01
    static let cashbackTooLarge: UInt8 = 0x02
    static let serviceCount: UInt8 = 0xA1
    static let serviceIndex: UInt8 = 0xA3
    static let nodeAbsent: UInt8 = 0xA6
    static let accessMode: UInt8 = 0xA7
    static let blockNumber: UInt8 = 0xA8
    static let tooManyCyclic: UInt8 = 0xAF
    static let authenticationNeeded: UInt8 = 0xB1
    static let macNeeded: UInt8 = 0xB2
    static let rootArea: UInt8 = 0xE0
    static let notAnArea: UInt8 = 0xE2
    static let noAreaInformation: UInt8 = 0xE7
}
