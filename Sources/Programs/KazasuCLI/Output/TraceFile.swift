// SPDX-License-Identifier: Apache-2.0

import Glibc
import Kazasu
import Recordings

/// The file that `--trace` writes, line by line, so that it is complete up to the last exchange in any case: a recording of
/// one section, masked with `--redact` as `kazasu contribute` masks.
final class TraceFile {
    private let path: String
    private let section: String
    /// `nil` for a trace with everything in it but secrets.
    private var mask: RecordingMask?
    private let claim: FilesInUse.Claim
    private var descriptor: Int32
    private var failed: Int32 = 0

    /// - Parameter command: what the section is called, if it is of ``RecordingWords/commands``.
    init(
        _ path: String, _ header: Recording.Header, command: String, isMasked: Bool
    ) throws(CommandError) {
        self.path = path
        section = RecordingWords.command(command)
        mask = isMasked ? RecordingMask() : nil
        try Files.checkOutput(path)
        claim = try FilesInUse.shared.writes(path)
        descriptor = Descriptor.openForWriting(path)
        guard descriptor >= 0 else { throw TraceFile.failure(path, errno) }
        write(header.line)
        write(.section(section, left: isMasked ? ["contents"] : []))
    }

    /// Adds an exchange whose secrets are already masked.
    package func add(_ entry: TranscriptEntry) { write(.exchange(entry)) }

    private func write(_ item: Recording.Item) {
        guard mask != nil else { return write(item.line) }
        for line in mask?.next([item]) ?? [] { write(line.item.line) }
    }

    private func write(_ line: String) {
        guard failed == 0 else { return }
        failed = Descriptor.write(line + "\n", to: descriptor)
    }

    package func close() throws(CommandError) {
        guard descriptor >= 0 else { return }
        write(.end(isComplete: true, sections: [section]))
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
