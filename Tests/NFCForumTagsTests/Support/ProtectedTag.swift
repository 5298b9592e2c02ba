// SPDX-License-Identifier: Apache-2.0

import NFCForumTags
import ReaderCore
import Testing
import VirtualReader

/// A virtual Ultralight C with the key from the factory and a message `D00000` that lies across pages 4 and 5.
enum ProtectedTag {
    /// A tag and its reader.
    ///
    /// - Parameters:
    ///   - page: the first page that needs the key.
    ///   - writingOnly: whether reading needs none.
    ///   - access: the last byte of the Capability Container.
    static func make(
        from page: UInt8, writingOnly: Bool = false, access: UInt8 = 0
    ) throws -> (Type2Tag, TroubledReader) {
        var memory = try #require(Type2Memory(.ultralightC, uid: [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]))
        memory.write(3, [0xE1, 0x10, 0x12, access])
        memory.write(4, [0x03, 0x03, 0xD0, 0x00])
        memory.write(5, [0x00, 0xFE, 0x00, 0x00])
        memory.write(0x2A, [page, 0, 0, 0])
        memory.write(0x2B, [writingOnly ? 1 : 0, 0, 0, 0])
        let reader = TroubledReader(InProcessReader(VirtualType2Tag(memory)))
        guard case .typeA(let target)? = try reader.activate(.typeA(isoDEP: false)) else { throw TagError.tagLost }
        return (Type2Tag(reader: reader, target: target), reader)
    }
}
