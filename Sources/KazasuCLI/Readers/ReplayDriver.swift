// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import VirtualReader

/// `replay:FILE`: the exchanges of a `--trace` file or of a report, played again.
struct ReplayDriver {
    static let prefix = "replay:"

    /// The command that plays it: of a report its own section is played.
    var command: String?

    func open(_ id: String, cancellation: CancellationToken) throws(Failure) -> (any Reader)? {
        guard id.hasPrefix(ReplayDriver.prefix) else { return nil }
        let path = String(id.dropFirst(ReplayDriver.prefix.utf8.count))
        let bytes = try Files.read(path, limit: 64 << 20)
        Interrupt.hold()
        do throws(DocumentError) {
            return ReplayReader(try Transcript(parsing: bytes).playing(command), cancellation: cancellation)
        } catch {
            throw Failure(error, path: path)
        }
    }
}
