// SPDX-License-Identifier: Apache-2.0

import CardModel
import LibNFCReader
import NFCTransport
import Testing
import VirtualReader

/// A simulated PN532 and libnfc's view of it.
final class Bench {
    let server: PN532Server
    let field: VirtualField
    let cancellation = CancellationToken()
    let reader: any Reader

    init(
        card: any VirtualCard = TestCard(), faults: FaultPlan = [], serial: SerialFaultPlan = .none,
        timing: TimeModel = .off
    ) throws {
        field = VirtualField(cards: [card], faults: faults)
        server = try PN532Server(field: field, timing: timing, faults: serial)
        reader = try #require(try LibNFCDriver().open(server.connectionString, cancellation: cancellation))
    }

    deinit {
        reader.close()
        server.stop()
    }

    /// How many host commands the chip has got.
    var hostCommands: Int { server.statistics.hostCommands }

    /// Polls for system 0003.
    @discardableResult
    func activate(_ system: SystemCode = .transit, bitRate: FeliCaBitRate = .kbps212) throws -> FeliCaTarget? {
        guard case .felica(let target)? = try reader.activate(.felica(system, bitRate: bitRate)) else { return nil }
        return target
    }

    /// Sends a frame with a time of 10 ms.
    func exchange(_ frame: [UInt8], within time: Duration = .milliseconds(10)) throws -> [UInt8] {
        try reader.transceive(frame, timeout: time)
    }
}
