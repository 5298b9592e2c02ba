// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file that `--trace` writes, line by line, so that it is complete up to the last exchange in any case.
final class TraceFile {
    private let path: String
    private let claim: FilesInUse.Claim
    private var descriptor: Int32
    private var failed: Int32 = 0

    init(_ path: String) throws(CommandError) {
        self.path = path
        try Files.checkOutput(path)
        claim = try FilesInUse.shared.writes(path)
        descriptor = Descriptor.openForWriting(path)
        guard descriptor >= 0 else { throw TraceFile.failure(path, errno) }
    }

    func write(_ line: String) {
        guard failed == 0 else { return }
        failed = Descriptor.write(RedactionGate.shared.masked(line + "\n"), to: descriptor)
    }

    func close() throws(CommandError) {
        guard descriptor >= 0 else { return }
        if Glibc.close(descriptor) != 0, failed == 0 { failed = errno }
        descriptor = -1
        if failed != 0 { throw TraceFile.failure(path, failed) }
    }

    private static func failure(_ path: String, _ error: Int32) -> CommandError {
        error == EINTR ? .cancelled() : .unwritable(path, error)
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }
}
