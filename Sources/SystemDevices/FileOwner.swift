// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Who may open a file.
public enum FileOwner {
    /// The name of the group that a file belongs to, `nil` when there is no such file or name.
    public static func group(of path: String) -> String? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return name(ofGroup: status.st_gid)
    }

    /// The name of a group, `nil` when its number has none.
    public static func name(ofGroup number: UInt32) -> String? {
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard unsafe getgrgid_r(number, &entry, &buffer, buffer.count, &found) == 0,
            let found = unsafe found, let name = unsafe found.pointee.gr_name
        else { return nil }
        return unsafe String(cString: name)
    }
}
