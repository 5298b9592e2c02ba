// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The file that `--trace` writes, line by line, so that it is whole up to the last exchange whatever happens.
final class TraceFile {
    private let path: String
    private var file: UnsafeMutablePointer<FILE>?
    private var failed: Int32 = 0

    init(_ path: String) throws(Failure) {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure.unwritable(path, errno) }
        file = fdopen(descriptor, "w")
        if let file { setvbuf(file, nil, _IOLBF, 1 << 16) }
    }

    func write(_ line: String) {
        guard let file, failed == 0 else { return }
        if fputs(line + "\n", file) < 0 { failed = errno }
    }

    func close() throws(Failure) {
        if let file, fclose(file) != 0, failed == 0 { failed = errno }
        file = nil
        if failed != 0 { throw Failure.unwritable(path, failed) }
    }

    deinit {
        if let file { fclose(file) }
    }
}
