// SPDX-License-Identifier: Apache-2.0

import CardModel
import LibNFCReader
import NFCTransport
import VirtualReader

/// `virtual:FILE`: a card from a file on a simulated PN532, driven by the real libnfc.
struct VirtualDriver {
    static let prefix = "virtual:"

    /// Opens the reader; the simulated chip lives as long as it is open.
    func open(_ id: String, cancellation: CancellationToken) throws -> (any Reader)? {
        guard id.hasPrefix(VirtualDriver.prefix) else { return nil }
        let path = String(id.dropFirst(VirtualDriver.prefix.utf8.count))
        let card = try VirtualDriver.card(path)
        let server: PN532Server
        do {
            server = try PN532Server(field: VirtualField(cards: [card]))
        } catch {
            throw Failure(.noReader, "absent", tr("no pseudo-terminal can be made: ", "疑似端末を作れません: ") + "\(error)")
        }
        guard let reader = try LibNFCDriver().open(server.connectionString, cancellation: cancellation) else {
            throw Failure.bug("libnfc does not know its own connection string")
        }
        return VirtualChipReader(id: id, reader: reader, server: server)
    }

    /// The card of a dump or a virtual card file.
    static func card(_ path: String) throws(Failure) -> VirtualFeliCaCard {
        let bytes = try Files.read(path)
        do {
            return try VirtualCardFile.load(bytes)
        } catch {
            throw Failure(error, path: path)
        }
    }
}
