// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// What a file's POSIX access list says of groups.
///
/// Source: `linux/posix_acl_xattr.h`: the version, 2, in four bytes, then eight bytes an entry: its kind and its permissions
/// in two bytes each, and the number of a user or group in four; all little endian.
package struct AccessList: Hashable, Sendable {
    /// Whether members of the file's own group may read and write it.
    package let ownGroup: Bool
    /// The numbers of the other groups whose members may.
    package let groups: [UInt32]

    /// Reads the list in the form in which the kernel gives it.
    ///
    /// - Returns: `nil` for anything else.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4, bytes.count % 8 == 4, bytes[0] == 2, bytes[1...3].allSatisfy({ $0 == 0 }) else {
            return nil
        }
        let entries = stride(from: 4, to: bytes.count, by: 8).map { Entry(bytes[$0..<($0 + 8)]) }
        let readWrite: UInt8 = 6
        // Without a mask, there are no entries that it could limit.
        let mask: UInt8 = entries.first { $0.kind == 0x10 }?.permissions ?? readWrite
        let open = entries.filter { $0.permissions & mask & readWrite == readWrite }
        ownGroup = open.contains { $0.kind == 0x04 }
        groups = open.filter { $0.kind == 0x08 }.map(\.id)
    }

    private struct Entry {
        let kind: UInt8
        let permissions: UInt8
        let id: UInt32

        init(_ bytes: ArraySlice<UInt8>) {
            let first = bytes.startIndex
            (kind, permissions) = (bytes[first], bytes[first + 2])
            id = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The list of a file; `nil` if it has none.
    init?(of path: String) {
        // The longest value that an attribute can have.
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe kazasu_attribute(path, "system.posix_acl_access", &buffer, UInt(buffer.count))
        guard count > 0 else { return nil }
        self.init(Array(buffer.prefix(count)))
    }
}
