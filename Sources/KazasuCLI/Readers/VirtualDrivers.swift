// SPDX-License-Identifier: Apache-2.0

import CardModel
import LibNFCReader
import NFCTransport
import VirtualReader

/// `virtual:FILE`: a card from a file on a simulated PN532, driven by the real libnfc.
struct VirtualDriver {
    static let prefix = "virtual:"

    /// Gets what passes between the computer and the reader.
    var recorder: LinkRecorder?

    /// Opens the reader; the simulated chip lives as long as it is open.
    func open(_ id: String, cancellation: CancellationToken) throws -> (any Reader)? {
        guard id.hasPrefix(VirtualDriver.prefix) else { return nil }
        let path = String(id.dropFirst(VirtualDriver.prefix.utf8.count))
        let field = try VirtualDriver.field(path)
        Interrupt.hold()
        let server: PN532Server
        do throws(PseudoterminalError) {
            server = try PN532Server(field: field)
        } catch {
            throw CommandError(error, status: .noReader)
        }
        guard
            let reader = try LibNFCDriver(recorder: recorder).open(server.connectionString, cancellation: cancellation)
        else {
            throw CommandError.bug("libnfc does not know its own connection string")
        }
        return VirtualChipReader(id: id, reader: reader, server: server)
    }

    /// The field of a dump or a virtual card file: its card, and what its `virtual.faults` say goes wrong.
    static func field(_ path: String) throws(CommandError) -> VirtualField {
        let bytes = try Files.read(path)
        do {
            return try VirtualCardFile.loadField(bytes)
        } catch {
            throw CommandError(error, path: path)
        }
    }
}

extension CommandError {
    /// Why there is no simulated reader.
    init(_ error: PseudoterminalError, status: ExitStatus) {
        let what: String
        switch error {
        case .failed(let call, let number): what = "\(call): " + SystemMessage.text(number)
        case .linkExists(let path): what = tr("\(path) is there already", "\(path) はすでにあります")
        case .cannotLink(let path, let number): what = "\(path): " + SystemMessage.text(number)
        @unknown default: what = "\(error)"
        }
        self.init(
            status, status == .noReader ? "absent" : "cannotWrite",
            tr("the simulated reader cannot be made: ", "仮想リーダーを作れません: ") + what,
            hint: status == .noReader
                ? tr("/dev/pts must be mounted", "/dev/pts がマウントされている必要があります")
                : tr("give --link a new path, or leave it out", "--link に新しいパスを指定するか、--link を省いてください"))
    }
}

/// A reader together with the simulated chip behind it.
final class VirtualChipReader: Reader {
    let information: ReaderInformation
    private let reader: any Reader
    private let server: PN532Server

    init(id: String, reader: any Reader, server: PN532Server) {
        self.reader = reader
        self.server = server
        var information = reader.information
        information.id = id
        information.name = "virtual PN532"
        self.information = information
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try reader.activate(request)
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try reader.transceive(frame, timeout: timeout)
    }

    func close() {
        reader.close()
        server.stop()
    }
}

/// `replay:FILE`: the exchanges of a `--trace` file or of a report, played again.
struct ReplayDriver {
    static let prefix = "replay:"

    /// The command that plays it: of a report its own section is played.
    var command: String?

    func open(_ id: String, cancellation: CancellationToken) throws(CommandError) -> (any Reader)? {
        guard id.hasPrefix(ReplayDriver.prefix) else { return nil }
        let path = String(id.dropFirst(ReplayDriver.prefix.utf8.count))
        let bytes = try Files.read(path, limit: 64 << 20)
        Interrupt.hold()
        do throws(DocumentError) {
            return ReplayReader(try Transcript(parsing: bytes).playing(command), cancellation: cancellation)
        } catch {
            throw CommandError(error, path: path)
        }
    }
}
