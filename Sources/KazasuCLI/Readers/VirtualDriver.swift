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
            throw Failure(error, status: .noReader)
        }
        guard
            let reader = try LibNFCDriver(recorder: recorder).open(server.connectionString, cancellation: cancellation)
        else {
            throw Failure.bug("libnfc does not know its own connection string")
        }
        return VirtualChipReader(id: id, reader: reader, server: server)
    }

    /// The field of a dump or a virtual card file: its card, and what its `virtual.faults` say goes wrong.
    static func field(_ path: String) throws(Failure) -> VirtualField {
        let bytes = try Files.read(path)
        do {
            return try VirtualCardFile.loadField(bytes)
        } catch {
            throw Failure(error, path: path)
        }
    }
}

extension Failure {
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
