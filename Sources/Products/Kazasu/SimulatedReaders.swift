// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import PN53xReader
internal import ReaderCore
internal import VirtualReader

/// `virtual:FILE`: a card from a file on a simulated PN532, driven by the real libnfc.
package struct VirtualDriver {
    /// The prefix of these readers' IDs.
    package static let prefix = "virtual:"
    /// The longest card file, in bytes.
    private static let limit = 8 << 20
    /// How many times longer than a real chip to wait for the simulated one, which may be late on a busy machine.
    private static let patience = 60

    private let options: ReaderRegistry.Options

    init(_ options: ReaderRegistry.Options) {
        self.options = options
    }

    /// Opens the reader; the simulated chip lives as long as the reader is open.
    func open(_ id: String) throws -> (any Reader)? {
        guard id.hasPrefix(VirtualDriver.prefix) else { return nil }
        let path = String(id.dropFirst(VirtualDriver.prefix.utf8.count))
        let bytes = try options.readFile(path, VirtualDriver.limit)
        let field = try VirtualDriver.field(path, bytes)
        let keep = options.keepCard.map { keep in
            {
                guard let file = try? VirtualCardFile.file(of: field.cards, after: bytes) else { return }
                keep(KeptCard(text: file.document.prettyText, isWritten: file.isWritten, losesKey: file.losesKey))
            }
        }
        options.willOpen()
        let server: PN532Server
        do throws(PseudoterminalError) {
            server = try PN532Server(field: field)
        } catch {
            throw KazasuError.noSimulatedReader(errno: error.number)
        }
        do throws(TransportError) {
            let driver = LibNFCDriver(patience: VirtualDriver.patience, recorder: options.recorder)
            guard let reader = try driver.open(server.connectionString, cancellation: options.cancellation) else {
                throw .unsupported(detail: .init(.libnfcOpensNone, server.connectionString))
            }
            return VirtualChipReader(id: id, reader: reader, server: server, pace: field.pace, didClose: keep)
        } catch {
            server.stop()
            throw error == .cancelled ? KazasuError.cancelled : .reader(error, id: id)
        }
    }

    /// Builds the field from a dump or a virtual card file: its card, and the faults injected by its `virtual.faults`.
    fileprivate static func field(_ path: String, _ bytes: [UInt8]) throws(KazasuError) -> VirtualField {
        do throws(DocumentError) {
            return try VirtualField(cardFile: bytes)
        } catch {
            throw .badFile(path, error)
        }
    }
}

/// A simulated PN532 on a pseudo-terminal, for any program that uses libnfc or a PN532.
package final class SimulatedChip {
    private let server: PN532Server

    /// Starts a chip with the card of a file on it.
    ///
    /// - Parameters:
    ///   - path: the file's name in messages.
    ///   - bytes: a dump or a virtual card file.
    ///   - hasTiming: whether card, radio and serial line take their time.
    ///   - link: the path of a link to the pseudo-terminal, removed at the end.
    /// - Throws: ``KazasuError/badFile(_:_:)``, ``KazasuError/noSimulatedReader(errno:)``,
    ///   ``KazasuError/cannotLink(_:errno:)``.
    package init(_ path: String, _ bytes: [UInt8], hasTiming: Bool, link: String?) throws(KazasuError) {
        let field = try VirtualDriver.field(path, bytes)
        do throws(PseudoterminalError) {
            server = try PN532Server(field: field, timing: hasTiming ? .full : .off, link: link)
        } catch {
            switch error {
            case .failed(_, let number): throw .noSimulatedReader(errno: number)
            case .linkExists(let path), .cannotLink(let path, _): throw .cannotLink(path, errno: error.number)
            }
        }
    }

    /// The reader's ID for libnfc.
    package var connectionString: String { server.connectionString }

    /// Ends the simulation.
    package func stop() { server.stop() }

    /// What the chip did so far, the document `kazasu.statistics/1`.
    package var statistics: JSONValue {
        let statistics = server.statistics
        return [
            "schema": "kazasu.statistics/1", "hostCommands": .int(statistics.hostCommands),
            "cardExchanges": .int(statistics.exchanges), "answered": .int(statistics.answeredExchanges),
            "readCommands": .int(statistics.readCommands), "retriedFrames": .int(statistics.retriedFrames),
            "bytesFromHost": .int(statistics.bytesFromHost), "bytesToHost": .int(statistics.bytesToHost),
            "fieldOn": .bool(statistics.isFieldOn),
        ]
    }
}

/// A reader together with the simulated chip behind it.
private final class VirtualChipReader: PacedReader, FollowedSearch, LongJobReader {
    let information: ReaderInformation
    let pace: Int
    private let reader: any Reader
    private let server: PN532Server
    private var didClose: (() -> Void)?

    init(id: String, reader: any Reader, server: PN532Server, pace: Int, didClose: (() -> Void)?) {
        self.reader = reader
        self.pace = pace
        self.server = server
        self.didClose = didClose
        var information = reader.information
        information.id = id
        information.name = "virtual PN532"
        self.information = information
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try reader.activate(request)
    }

    func activate(_ request: ActivationRequest, isFollowed: Bool) throws(TransportError) -> PICC? {
        try reader.look(for: request, isFollowed: isFollowed)
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try reader.transceive(frame, timeout: timeout)
    }

    func isCardPresent() throws(TransportError) -> Bool? { try reader.isCardPresent() }

    func cyclePower() throws(TransportError) -> Bool { try reader.cyclePower() }

    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool { try reader.show(signal) }

    func silence() throws(TransportError) -> Bool { try reader.silence() }

    func beginLongJob() { reader.expectLongJob() }

    func close() {
        reader.close()
        server.stop()
        didClose?()
        didClose = nil
    }
}

/// `replay:FILE`: replays the exchanges of a recording.
struct ReplayDriver {
    static let prefix = "replay:"
    /// The longest recording, in bytes.
    private static let limit = 64 << 20

    private let options: ReaderRegistry.Options

    init(_ options: ReaderRegistry.Options) {
        self.options = options
    }

    func open(_ id: String) throws -> (any Reader)? {
        guard id.hasPrefix(ReplayDriver.prefix) else { return nil }
        let path = String(id.dropFirst(ReplayDriver.prefix.utf8.count))
        let bytes = try options.readFile(path, ReplayDriver.limit)
        options.willOpen()
        do throws(DocumentError) {
            let transcript = try Transcript(parsing: bytes).playing(options.command)
            return ReplayReader(transcript, cancellation: options.cancellation)
        } catch {
            throw KazasuError.badFile(path, error)
        }
    }
}

extension ReaderRegistry {
    /// Whether an ID names a virtual card or a recording instead of a reader.
    package static func isSimulated(_ id: String) -> Bool {
        [VirtualDriver.prefix, ReplayDriver.prefix].contains { id.hasPrefix($0) }
    }
}
