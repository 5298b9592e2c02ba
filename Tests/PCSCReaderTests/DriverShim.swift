// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// A driver for pcscd in C: its own functions, and those of vpcd for all others.
final class DriverShim {
    /// Where it is built; `FOLDER` in its source.
    let folder: TemporaryFolder
    let path: String

    init(_ source: String) throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/shim.so"
        let file = try folder.write(Array(source.utf8), as: "shim.c")
        // Under the name by which it calls itself.
        let compiler = try #require(CCompiler.path)
        let command = "ln -s \(PCSCService.driver) libifdvpcd.so.0 && \(compiler) -shared -fPIC "
        let options =
            "-o shim.so -DFOLDER='\"\(folder.path)\"' -Wl,--no-as-needed,-rpath,'$ORIGIN' \(file) libifdvpcd.so.0"
        let result = try ChildProcess.run("/bin/sh", ["-c", "cd '\(folder.path)' && \(command)\(options)"])
        try #require(result.end == .exited(0), "\(result.errors)")
    }
}
