// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

/// A folder that is gone at the end of the test, with what is in it.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = "/tmp/kazasu-tests-XXXXXX".utf8CString.map { $0 }
        path = String(cString: try #require(mkdtemp(&template)))
    }

    deinit {
        let folder = opendir(path)
        while let folder, let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { unlink("\(path)/\(name)") }
        }
        if let folder { closedir(folder) }
        rmdir(path)
    }
}
