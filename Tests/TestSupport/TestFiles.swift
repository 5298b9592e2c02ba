// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where tests find the files of the repository.
package enum TestFiles {
    /// The top of the repository, without a slash at the end.
    package static let root: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The bytes of a file below the top of the repository, as in `Fixtures/cards/suica/card.json`.
    package static func read(_ path: String) throws -> [UInt8] {
        let whole = path.hasPrefix("/") ? path : "\(root)/\(path)"
        guard let file = fopen(whole, "rb") else { throw Unreadable(path: whole) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: buffer[..<count])
        }
    }

    /// The path of one of the two programs under test: that which `KAZASU_PROGRAM` names or that beside it, else the one
    /// that was built with the tests.
    package static func program(_ name: String) -> String {
        guard let variable = getenv("KAZASU_PROGRAM"), variable.pointee != 0 else { return built(name) }
        let path = String(cString: variable)
        guard name != "kazasu" else { return path }
        let other = path.lastIndex(of: "/").map { path[...$0] + name } ?? ""
        return access(String(other), X_OK) == 0 ? String(other) : built(name)
    }

    /// The path of a program that was built with the tests.
    package static func built(_ program: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let bundle = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        // With Swift Testing alone, the process is the toolchain's helper, and the bundle one of its arguments.
        let candidates = [bundle] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        let programs = candidates.map { $0.split(separator: "/", omittingEmptySubsequences: false).dropLast() }
            .map { ($0 + [Substring(program)]).joined(separator: "/") }
        return programs.first { access($0, X_OK) == 0 } ?? program
    }

    /// A file that a test needs is not there.
    package struct Unreadable: Error {
        /// Which one.
        package let path: String
    }
}
