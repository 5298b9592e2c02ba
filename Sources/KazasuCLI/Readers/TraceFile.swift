// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file that `--trace` writes, line by line, so that it is whole up to the last exchange whatever happens.
final class TraceFile {
    private let path: String
    private var descriptor: Int32
    private var failed: Int32 = 0

    init(_ path: String) throws(Failure) {
        self.path = path
        descriptor = Descriptor.openForWriting(path)
        guard descriptor >= 0 else { throw TraceFile.failure(path, errno) }
    }

    func write(_ line: String) {
        guard failed == 0 else { return }
        failed = Descriptor.write(line + "\n", to: descriptor)
    }

    func close() throws(Failure) {
        guard descriptor >= 0 else { return }
        if Glibc.close(descriptor) != 0, failed == 0 { failed = errno }
        descriptor = -1
        if failed != 0 { throw TraceFile.failure(path, failed) }
    }

    private static func failure(_ path: String, _ error: Int32) -> Failure {
        error == EINTR ? .cancelled() : .unwritable(path, error)
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }
}
