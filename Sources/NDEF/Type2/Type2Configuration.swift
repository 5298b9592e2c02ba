// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// What the configuration pages of an Ultralight EV1 or NTAG21x say.
///
/// CFG0: MIRROR, –, MIRROR_PAGE, AUTH0. CFG1 byte 0, ACCESS: 80 PROT, 40 CFGLCK, 10 counter on, 08 counter needs the
/// password, low three bits AUTHLIM. Ultralight C has AUTH0 alone, in byte 0 of its page, and AUTH1 in the next. Sources: NXP
/// data sheets.
public struct Type2Configuration: Hashable, Sendable {
    /// The first page that the password protects; above the last page: none is protected.
    public let firstProtectedPage: UInt16
    /// Whether reading needs the password too.
    public let protectsReading: Bool
    /// Whether the configuration cannot be changed any more; `nil` where there is no such bit.
    public let isLocked: Bool?
    /// Whether the tag counts the reads; `nil` where there is no such bit.
    public let countsReads: Bool?
    /// Whether reading the counter needs the password; `nil` where there is no such bit.
    public let protectsCounter: Bool?
    /// After how many wrong passwords the tag refuses for ever, 0 for never; `nil` where there is no such field.
    public let passwordTries: Int?

    /// The configuration of a product; `nil` when it has none, or its pages were not read.
    public init?(memory: Type2Memory, product: Type2Product) {
        guard let page = product.configurationPage, let first = memory[page], let second = memory[page &+ 1] else {
            return nil
        }
        if product.dynamicLocks == .ultralightC {
            firstProtectedPage = UInt16(first[0])
            protectsReading = second[0] & 0x01 == 0
            (isLocked, countsReads, protectsCounter, passwordTries) = (nil, nil, nil, nil)
            return
        }
        let access = second[0]
        firstProtectedPage = UInt16(first[3])
        protectsReading = access & 0x80 != 0
        isLocked = access & 0x40 != 0
        countsReads = product.counters.isEmpty ? nil : access & 0x10 != 0
        protectsCounter = product.counters.isEmpty ? nil : access & 0x08 != 0
        passwordTries = Int(access & 0x07)
    }

    /// What is known when the configuration cannot be read either: from this page on, reading needs the password.
    public init(refusedFrom page: UInt16) {
        (firstProtectedPage, protectsReading) = (page, true)
        (isLocked, countsReads, protectsCounter, passwordTries) = (nil, nil, nil, nil)
    }

    /// Whether writing a page needs the password.
    public func protects(_ page: UInt16) -> Bool { page >= firstProtectedPage }
}
