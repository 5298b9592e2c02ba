// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file of the program that runs.
enum OwnProgram {
    /// The folder that the program lies in, or `nil` without /proc.
    package static var folder: String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        let own = String(decoding: path.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.lastIndex(of: "/").map { String(own[..<$0]) }
    }
}

/// The pages that help and messages name.
package enum Documents {
    /// The folder of the pages: where the package or `make install` put them, or as the source has it.
    private static let folder = folder(besides: OwnProgram.folder)

    /// A page by its name, such as `formats.md`, where the user finds it.
    package static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// - Parameter programs: the folder of the program: `PREFIX/bin`, `PREFIX/libexec/kazasu` or that of a build.
    package static func folder(besides programs: String?) -> String {
        for own in ["/bin", "/libexec/kazasu"] {
            guard let programs, programs.hasSuffix(own) else { continue }
            let pages = programs.dropLast(own.utf8.count) + "/share/doc/kazasu/Docs"
            if access(String(pages), F_OK) == 0 { return String(pages) }
        }
        return "Docs"
    }
}
