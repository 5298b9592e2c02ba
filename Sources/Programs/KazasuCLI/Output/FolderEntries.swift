// SPDX-License-Identifier: Apache-2.0

import Glibc
package import SystemPackage

/// The names in a folder.
package struct FolderEntries {
    /// The names, in no order, without `.` and `..`.
    package let names: [FilePath.Component]
    /// The folder's identity, independent of its path.
    package let status: Stat

    package init(_ path: FilePath) throws {
        let folder = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        do {
            status = try folder.stat()
        } catch {
            try? folder.close()
            throw error
        }
        names = FolderEntries.names(folder)
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
