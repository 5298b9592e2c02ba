// SPDX-License-Identifier: Apache-2.0

@_exported public import DumpFormatsXML
@_exported public import KazasuReading
@_exported public import ReaderDiagnosis

/// Lists every connected reader, usable or not, in the order in which ``openReader(_:)`` prefers them.
public func listReaders() -> [ReaderListing] {
    ReaderRegistry.list()
}

/// Opens a reader.
///
/// ```swift
/// import Kazasu
///
/// let reader = try openReader()
/// let card = try reader.waitForCard(.purse)
/// print(try card.balance())
/// ```
///
/// - Parameter id: `rcs380`, `rcs300`, `pcsc:NAME`, a libnfc connection string, `virtual:FILE` for a card from a file
///   on a simulated reader, or `replay:FILE` for a recording. If `nil`, the environment variable `KAZASU_READER` names
///   the reader; if it is not set, the first ready reader is used.
/// - Throws: ``KazasuError/noReader(_:)``, ``KazasuError/unknownReader(_:)``, ``KazasuError/reader(_:id:)`` if it
///   cannot be opened, ``KazasuError/unreadableFile(_:errno:)`` and ``KazasuError/badFile(_:_:)`` for `virtual:` and
///   `replay:`.
public func openReader(_ id: String? = nil) throws(KazasuError) -> CardReader {
    let cancellation = CancellationToken()
    return CardReader(try ReaderRegistry.openReader(id, cancellation), cancellation: cancellation)
}

/// Opens a reader on its own thread, for code that must not block, and closes it when the work is done.
///
/// Cancelling the task immediately ends what the reader is doing and closes it.
///
/// ```swift
/// let balance = try await withReader { reader in try reader.waitForCard(.purse).balance() }
/// ```
///
/// - Parameters:
///   - id: as in ``openReader(_:)``.
///   - body: runs on the reader's thread; the reader must not escape it.
/// - Throws: whatever `body` throws, or ``KazasuError`` if the reader cannot be opened.
public func withReader<Value: Sendable, Failure: Error>(
    _ id: String? = nil, _ body: @escaping @Sendable (CardReader) throws(Failure) -> Value
) async throws -> Value {
    let reader = try await AsyncCardReader.open(id)
    do {
        let value = try await reader.run(body)
        await reader.close()
        return value
    } catch {
        await reader.close()
        throw error
    }
}
