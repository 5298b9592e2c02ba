// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SystemPackage

/// An open folder and the names in it; operations on a name apply to this folder, even if its path now leads elsewhere.
package final class FolderEntries {
    private let folder: FileDescriptor
    /// The names, in no order, without `.` and `..`.
    package let names: [FilePath.Component]

    package init(_ path: FilePath) throws {
        folder = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        names = FolderEntries.names(try folder.duplicate())
    }

    deinit { try? folder.close() }

    /// The folder's identity, independent of its path.
    package var status: Stat { get throws(Errno) { try folder.stat() } }

    /// Returns the status of a name; a link is not followed.
    package func stat(_ name: FilePath.Component) throws(Errno) -> Stat {
        try FilePath(root: nil, components: name).stat(relativeTo: folder, flags: .symlinkNoFollow)
    }

    /// Opens a file for reading.
    package func open(_ name: FilePath.Component, _ options: FileDescriptor.OpenOptions) throws(Errno) -> FileDescriptor
    {
        let descriptor = name.withPlatformString { openat(folder.rawValue, $0, O_RDONLY | options.rawValue) }
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: descriptor)
    }

    package func remove(_ name: FilePath.Component) {
        _ = name.withPlatformString { unlinkat(folder.rawValue, $0, 0) }
    }

    /// Reads the names of an open folder and closes it.
    ///
    /// An entry is only as long as its name: nothing after its end may be read, so it is not copied as a `dirent`.
    private static func names(_ folder: FileDescriptor) -> [FilePath.Component] {
        guard let directory = fdopendir(folder.rawValue) else {
            try? folder.close()
            return []
        }
        defer { closedir(directory) }
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [FilePath.Component] = []
        while let entry = readdir(directory) {
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            guard let component = FilePath.Component(platformString: name), component.kind == .regular else { continue }
            names.append(component)
        }
        return names
    }
}
