// SPDX-License-Identifier: Apache-2.0

public import CardDecoders
public import CardModel
public import CardReading
public import NDEF
public import ReaderCore
internal import Synchronization

/// A card on a reader with a dedicated thread, for code that must not block.
///
/// ```swift
/// let reader = try await AsyncCardReader.open()
/// let card = try await reader.waitForCard(.purse)
/// print(try await card.balance())
/// ```
///
/// The calls are those of ``Card``, with the same errors; ``run(_:)`` combines several. Cancelling a task that waits
/// here cancels the reader permanently.
public struct AsyncCard: Sendable {
    /// The reader that the card is on.
    public let reader: AsyncCardReader
    /// The card, with the request that finds it again.
    public let found: FoundCard
    /// Shared by all calls, so that no PIN is sent after a wrong one.
    private let pinGuard = PINGuard()

    /// FeliCa, or ISO 14443 type A or B.
    public var technology: Technology { found.technology }

    /// The card's identity: IDm and PMm; UID, ATQA, SAK and ATS; or ATQB.
    public var identity: CardIdentity { found.picc.identity }

    /// Runs a closure with the card on the reader's thread.
    ///
    /// - Parameter body: receives the card, which must not escape it.
    /// - Throws: whatever `body` throws.
    public func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (Card) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (found, pinGuard) = (found, pinGuard)
        return try await reader.run { reader throws(Failure) in
            try body(Card(found, reader: reader, pinGuard: pinGuard))
        }
    }

    /// Identifies the card, as ``Card/identify(applications:)`` does.
    public func identify() async throws(KazasuError) -> [RecognizedCard] {
        try await run { card throws(KazasuError) in try card.identify() }
    }

    /// Reads the card's balance, as ``Card/balance(kinds:all:)`` does.
    public func balance(kinds: [CardKind]? = nil, all: Bool = false) async throws(KazasuError) -> BalanceReport {
        try await run { card throws(KazasuError) in try card.balance(kinds: kinds, all: all) }
    }

    /// Reads the card's history, as ``Card/history(kinds:stations:)`` does.
    public func history(
        kinds: [CardKind]? = nil, stations: any StationNames = ShippedStations()
    ) async throws(KazasuError) -> CardReport {
        try await run { card throws(KazasuError) in try card.history(kinds: kinds, stations: stations) }
    }

    /// Reads the card's balance with decoders of your own, as ``Card/balance(with:all:)`` does.
    public func balance(with registry: DecoderRegistry, all: Bool = false) async throws(KazasuError) -> BalanceReport {
        try await run { card throws(KazasuError) in try card.balance(with: registry, all: all) }
    }

    /// Reads and decodes the card with decoders of your own, as ``Card/report(with:stations:)`` does.
    public func report(
        with registry: DecoderRegistry, stations: any StationNames = ShippedStations()
    ) async throws(KazasuError) -> CardReport {
        try await run { card throws(KazasuError) in try card.report(with: registry, stations: stations) }
    }

    /// Reads and decodes with every decoder that knows the card, as ``Card/reports(with:stations:)`` does.
    public func reports(
        with registry: DecoderRegistry, stations: any StationNames = ShippedStations()
    ) async throws(KazasuError) -> [CardReport] {
        try await run { card throws(KazasuError) in try card.reports(with: registry, stations: stations) }
    }

    /// Reads what tells the brand of the card, as ``Card/brand(of:)`` does.
    public func brand(of kind: CardKind) async throws(KazasuError) -> CardBrand? {
        try await run { card throws(KazasuError) in try card.brand(of: kind) }
    }

    /// Reads everything that needs no key, as ``Card/dump(_:resuming:progress:)`` does.
    ///
    /// - Parameters:
    ///   - selection: the systems and services of a FeliCa card to read.
    ///   - earlier: an incomplete dump of the same card; what it contains is not read again.
    ///   - progress: called on the reader's thread.
    public func dump(
        _ selection: DumpSelection = .everything, resuming earlier: CardDump? = nil,
        progress: @escaping @Sendable (ReadingProgress) -> Void = { _ in }
    ) async throws(KazasuError) -> DumpResult {
        try await run { card throws(KazasuError) in
            try card.dump(selection, resuming: earlier, progress: progress)
        }
    }

    /// Lists all systems, areas and services, as ``Card/scan(progress:)`` does.
    ///
    /// - Parameter progress: called on the reader's thread.
    public func scan(
        progress: @escaping @Sendable (ReadingProgress) -> Void = { _ in }
    ) async throws(KazasuError) -> ScanResult {
        try await run { card throws(KazasuError) in try card.scan(progress: progress) }
    }

    /// Reads services of the system that was found, as ``Card/read(_:blocks:)-([ServiceCode],_)`` does.
    public func read(_ services: [ServiceCode], blocks: [UInt16]? = nil) async throws(KazasuError) -> ReadResult {
        try await run { card throws(KazasuError) in try card.read(services, blocks: blocks) }
    }

    /// Reads blocks of one service, as ``Card/read(_:blocks:)-(ServiceCode,_)`` does.
    public func read(_ service: ServiceCode, blocks: Range<UInt16>) async throws(KazasuError) -> [Block] {
        try await run { card throws(KazasuError) in try card.read(service, blocks: blocks) }
    }

    /// Reads the NDEF message of a tag, as ``Card/readNDEF()`` does.
    public func readNDEF() async throws(KazasuError) -> NDEFMessage {
        try await run { card throws(KazasuError) in try card.readNDEF() }
    }

    /// Overwrites the NDEF message of a tag, as ``Card/writeNDEF(_:)`` does.
    public func writeNDEF(_ message: NDEFMessage) async throws(KazasuError) {
        try await run { card throws(KazasuError) in try card.writeNDEF(message) }
    }

    /// Reads what a FeliCa Lite or Lite-S is restricted to, as ``LiteCard/information()`` does.
    public func liteInformation() async throws(KazasuError) -> LiteInformation {
        try await run { card throws(KazasuError) in try card.lite().information() }
    }

    /// Proves that a FeliCa Lite or Lite-S has a key, as ``LiteCard/verify(_:)`` does; ``run(_:)`` does the rest.
    public func verifyLite(_ key: LiteKeySource) async throws(KazasuError) -> LiteVerification {
        try await run { card throws(KazasuError) in try card.lite().verify(key) }
    }

    /// Sends one frame and returns the card's answer, as ``Card/transceive(_:timeout:)`` does.
    public func transceive(
        _ frame: [UInt8], timeout: Duration = .milliseconds(500)
    ) async throws(KazasuError) -> [UInt8] {
        try await run { card throws(KazasuError) in try card.transceive(frame, timeout: timeout) }
    }
}

/// Passes a value on to another thread, once.
final class Handover<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) { self.value = Mutex(value) }

    func take() -> sending Value? {
        value.withLock { value in
            let taken = value
            value = nil
            return taken
        }
    }
}
