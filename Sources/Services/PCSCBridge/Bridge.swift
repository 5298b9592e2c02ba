// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import Glibc
package import Kazasu
package import SharedReaders

/// One reader as a PC/SC reader: the card side of vsmartcard's vpcd, a driver of pcscd.
///
/// While a card lies on the reader, there is a connection to vpcd. A PC/SC program has the card from its first APDU until
/// pcscd switches the card off; in between, other programs that share the reader can use it, and find it as it was.
package struct Bridge: Sendable {
    package struct Settings: Hashable, Sendable {
        /// The name or ID of the reader; `nil` for the usual one.
        package var reader: String?
        /// The port of vpcd on this computer.
        package var port: UInt16
        /// Whether commands that can lock a PIN are refused when one try is left, or it is unknown how many.
        package var guardsPINs: Bool

        package init(reader: String?, port: UInt16 = Bridge.usualPort, guardsPINs: Bool = false) {
            (self.reader, self.port, self.guardsPINs) = (reader, port, guardsPINs)
        }
    }

    /// What happens, for the log; nothing of it contains data of a card.
    package enum Notice: Hashable, Sendable {
        /// A card came; pcscd has it now.
        case inserted(Technology)
        case removed
        /// Nobody listens at the port.
        case noService
        /// pcscd has ended, or was restarted.
        case serviceEnded
        /// Another program has the port: vpcd does not answer this one.
        case portTaken
        /// The port cannot be used.
        case noConnection(errno: Int32)
        /// The reader cannot be used.
        case noReader(KazasuError)
        /// The reader can be used again.
        case readerIsBack
        /// The header of a command and its status word, in hexadecimal digits; never their data.
        case exchange(header: String, status: String, Duration)
    }

    /// The first port at which vpcd listens.
    package static let usualPort: UInt16 = 35_963

    /// The pause between two questions whether the card is still there, while nobody uses it.
    private static let interval = Duration.milliseconds(100)
    /// The same after the last command of a program that has the card.
    static let idleTime = Duration.milliseconds(125)
    /// How many times a card must fail to answer before it counts as gone.
    private static let misses = 2
    /// The pause between two attempts to connect, or to open the reader.
    private static let retryTime = Duration.milliseconds(200)
    /// pcscd looks every 400 ms: a card that comes back sooner would be the same one to it, without power.
    private static let pollTime = Duration.milliseconds(600)
    /// vpcd asks for the ATR every 400 ms; a connection without a word for so long is not the one that it serves.
    private static let silence = Duration.seconds(3)
    /// How long a wait on the reader's thread may last, so that a cancelled bridge lets go of it.
    private static let slice = Duration.milliseconds(50)

    private let readers: SharedReaders
    private let settings: Settings
    private let tell: @Sendable (Notice) -> Void

    package init(
        _ settings: Settings, on readers: SharedReaders, tell: @escaping @Sendable (Notice) -> Void = { _ in }
    ) {
        (self.settings, self.readers, self.tell) = (settings, readers, tell)
    }

    /// Offers the reader's cards until the task is cancelled.
    ///
    /// - Throws: ``KazasuError`` when there can be no such reader.
    package func run() async throws(KazasuError) {
        var isReaderGone = false
        while !Task.isCancelled {
            do throws(KazasuError) {
                let card = try await nextCard()
                if isReaderGone { tell(.readerIsBack) }
                isReaderGone = false
                try await offer(card)
            } catch {
                if error == .cancelled, Task.isCancelled { return }
                guard !error.isAboutID else { throw error }
                if !isReaderGone { tell(.noReader(error)) }
                isReaderGone = true
                try? await Task.sleep(for: Self.retryTime)
            }
        }
    }

    // MARK: Cards

    /// A card, and the properties of the reader on which it lies.
    private struct Arrival: Sendable {
        var found: FoundCard
        var reader: ReaderInformation
    }

    private func nextCard() async throws(KazasuError) -> Arrival {
        while true {
            let result: Result<Arrival?, KazasuError> = try await readers.run(on: settings.reader, timeout: nil) {
                turn in
                do throws(KazasuError) {
                    guard let found = try turn.findCard() else { return .noCard(.success(nil)) }
                    return .done(.success(Arrival(found: found, reader: turn.reader.information)))
                } catch {
                    return .done(.failure(error))
                }
            }
            if let arrival = try result.get() { return arrival }
        }
    }

    /// Offers a card to pcscd until it is gone.
    private func offer(_ arrival: Arrival) async throws(KazasuError) {
        let card = BridgedCard(arrival.found.picc, on: arrival.reader, guardsPINs: settings.guardsPINs)
        var told: Notice?
        while !Task.isCancelled {
            var connection: VPCDConnection?
            do throws(VPCDConnection.Failure) {
                connection = try await VPCDConnection(port: settings.port)
                told = nil
            } catch {
                let notice: Notice =
                    switch error.errno {
                    case ECONNREFUSED: .noService
                    case EINPROGRESS: .portTaken
                    default: .noConnection(errno: error.errno)
                    }
                if notice != told { tell(notice) }
                told = notice
                try? await Task.sleep(for: Self.retryTime)
            }
            if let connection {
                tell(.inserted(arrival.found.technology))
                switch try await session(arrival.found, card, connection) {
                case .cardLeft:
                    tell(.removed)
                    try? await Task.sleep(for: Self.pollTime)
                    return
                case .serviceEnded: tell(.serviceEnded)
                }
            }
            guard try await isPresent(arrival.found) else { return }
        }
    }

    /// Why pcscd has the card no longer.
    private enum End: Sendable {
        case cardLeft
        case serviceEnded
    }

    /// Answers pcscd until the card is gone, or pcscd; then takes the card out.
    private func session(
        _ found: FoundCard, _ card: BridgedCard, _ connection: VPCDConnection
    ) async throws(KazasuError) -> End {
        defer { connection.close() }
        let start = ContinuousClock.now
        var nextCheck = start + Self.interval
        var isTold = false
        while !Task.isCancelled {
            switch await connection.event(within: Self.interval) {
            case .closed: return .serviceEnded
            case .message(.answerToReset): connection.send(card.answerToReset)
            case .message(.command(let apdu)):
                if let end = try await hold(found, card, connection, first: apdu) { return end }
                nextCheck = .now + Self.interval
            // Each hold selects the card again.
            case .message(.powerOff), .message(.powerOn), .message(.reset), .message(.other): break
            case .nothing:
                if !isTold, !connection.isServed, .now - start > Self.silence {
                    isTold = true
                    tell(.portTaken)
                }
            }
            if .now >= nextCheck {
                guard try await isPresent(found) else { return .cardLeft }
                nextCheck = .now + Self.interval
            }
        }
        return .cardLeft
    }

    /// Whether the card is still there, while no program has it.
    private func isPresent(_ found: FoundCard) async throws(KazasuError) -> Bool {
        for _ in 0..<Self.misses {
            let answer: Result<Bool, KazasuError> = try await readers.run(on: settings.reader, timeout: .zero) { turn in
                .done(turn.result { () throws(TransportError) in try turn.isPresent(found) })
            }
            if try answer.get() { return true }
        }
        return false
    }

    // MARK: A program of PC/SC

    /// Gives the card to a program of PC/SC: nobody else uses the reader until pcscd switches the card off.
    ///
    /// - Returns: `nil` when it was switched off: no program uses it any more.
    private func hold(
        _ found: FoundCard, _ card: BridgedCard, _ connection: VPCDConnection, first apdu: [UInt8]
    ) async throws(KazasuError) -> End? {
        let end: Result<End?, KazasuError> = try await readers.run(on: settings.reader, timeout: .zero) { turn in
            .done(
                turn.result { () throws(TransportError) in
                    try serve(turn, found, card, connection, first: apdu)
                })
        }
        return try end.get()
    }

    /// Runs on the reader's thread.
    private func serve(
        _ turn: ReaderTurn, _ found: FoundCard, _ card: BridgedCard, _ connection: VPCDConnection, first apdu: [UInt8]
    ) throws(TransportError) -> End? {
        var card = card
        guard try turn.select(found) else { return .cardLeft }
        guard try answer(apdu, found, &card, turn, connection) else { return .cardLeft }
        var (lastUse, missed) = (ContinuousClock.now, 0)
        while true {
            if turn.cancellation.isCancelled { throw .cancelled }
            switch connection.next(within: missed > 0 ? .zero : Self.slice) {
            case .closed: return .serviceEnded
            case .message(.powerOff): return nil
            case .message(.answerToReset): connection.send(card.answerToReset)
            case .message(.reset):
                guard try turn.select(found) else { return .cardLeft }
                card.reset()
            case .message(.command(let apdu)):
                guard try answer(apdu, found, &card, turn, connection) else { return .cardLeft }
                (lastUse, missed) = (.now, 0)
            case .message(.powerOn), .message(.other), .nothing: break
            }
            guard .now - lastUse >= Self.idleTime || missed > 0 else { continue }
            if try turn.isStillSelected(found, unknown: missed == 0) {
                (lastUse, missed) = (.now, 0)
            } else {
                missed += 1
                if missed >= Self.misses { return .cardLeft }
            }
        }
    }

    /// Answers one APDU.
    ///
    /// - Returns: `false` if the card is gone. Then the program gets no answer, as from a reader.
    private func answer(
        _ apdu: [UInt8], _ found: FoundCard, _ card: inout BridgedCard, _ turn: ReaderTurn, _ connection: VPCDConnection
    ) throws(TransportError) -> Bool {
        let start = ContinuousClock.now
        let answer = try card.answer(apdu, over: turn.reader)
        if answer.isMissing {
            var isThere = false
            for _ in 0..<Self.misses where !isThere { isThere = try turn.isStillSelected(found, unknown: false) }
            guard isThere else { return false }
        }
        connection.send(answer.apdu)
        tell(
            .exchange(
                header: Hex.encode(Array(apdu.prefix(4)), uppercase: true),
                status: Hex.encode(Array(answer.apdu.suffix(2)), uppercase: true), .now - start))
        return true
    }
}
