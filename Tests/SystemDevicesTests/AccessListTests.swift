// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import SystemDevices
import Testing

struct AccessListTests {
    /// `setfacl -m u:1000:rw,g:46:rw` on a file of mode 660, as `getfattr -e hex` shows it.
    private static let plugdev =
        "02000000 01000600ffffffff 02000600e8030000 04000600ffffffff 080006002e000000 10000600ffffffff 20000000ffffffff"

    @Test func theGroupsOfAList() throws {
        let list = try #require(AccessList(try Hex.decode(Self.plugdev)))
        #expect(list.ownGroup)
        #expect(list.groups == [46])
    }

    /// A reader of root's that the seat's user may open: the file's mode says 664, but that is the mask.
    @Test func theMaskLimitsGroups() throws {
        let list = try #require(
            AccessList(
                try Hex.decode(
                    "02000000 01000600ffffffff 02000600e8030000 04000400ffffffff 10000600ffffffff 20000400ffffffff")))
        #expect(!list.ownGroup && list.groups.isEmpty)
        // A mask that takes the permission to write from all.
        let limited = try #require(AccessList(try Hex.decode(Self.plugdev.replacing("10000600", with: "10000400"))))
        #expect(!limited.ownGroup && limited.groups.isEmpty)
    }

    @Test func otherBytesGiveNothing() throws {
        let list = try Hex.decode(Self.plugdev)
        for count in list.indices {
            #expect((AccessList(Array(list.prefix(count))) != nil) == (count >= 4 && count % 8 == 4), "\(count)")
        }
        #expect(AccessList([1] + list.dropFirst()) == nil)
        #expect(AccessList([2, 0, 0, 1] + list.dropFirst(4)) == nil)
    }
}
