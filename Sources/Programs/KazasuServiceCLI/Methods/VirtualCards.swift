// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import SharedReaders
import Synchronization

extension SharedReaders {
    /// The readers of a server: of any kind, as those of the command line.
    static func forCommands() -> SharedReaders {
        let cards = VirtualCards()
        return SharedReaders(open: { id, cancellation throws(KazasuError) in try cards.open(id, cancellation) })
    }

    /// The cards of `virtual:` readers, as they were left when their reader was closed.
    private final class VirtualCards: Sendable {
        private let files = Mutex<[String: [UInt8]]>([:])

        func open(_ id: String, _ cancellation: CancellationToken) throws(KazasuError) -> any Reader {
            let isVirtual = id.hasPrefix(VirtualDriver.prefix)
            var options = ReaderRegistry.Options(
                cancellation: cancellation,
                readFile: { [self] path, limit in
                    guard isVirtual else { return try ReaderRegistry.readFile(path, limit: limit) }
                    if let kept = files.withLock({ $0[path] }) { return kept }
                    let bytes = try ReaderRegistry.readFile(path, limit: limit)
                    return (try? DumpFile.cardFile(bytes, path)) ?? bytes
                })
            if isVirtual {
                let path = String(id.dropFirst(VirtualDriver.prefix.utf8.count))
                options.keepCard = { [self] card in
                    if card.isWritten { files.withLock { $0[path] = Array(card.text.utf8) } }
                }
            }
            do {
                return try ReaderRegistry.open(id, options)
            } catch let error as KazasuError {
                throw error
            } catch {
                throw .unknownReader(id)
            }
        }
    }
}
