// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import Testing
import VirtualReader

@testable import LibNFCReader

/// A simulated PN532 and libnfc's view of it.
final class Bench {
    let server: PN532Server
    let field: VirtualField
    let cancellation = CancellationToken()
    let reader: any Reader

    /// - Parameter patience: how many times as long as a real chip may take it is waited for. A chip that is simulated on a
    ///   busy machine is not in time; only what never answers is given up after the time of a real one.
    init(
        card: any VirtualCard = TestCard(), faults: InjectedFaults = [], serial: InjectedSerialFaults = .none,
        timing: TimeModel = .off, line: SerialLineModel = .plain, initialSpeed: Int = 115_200, speed: String = "",
        patience: Int = 20
    ) throws {
        field = VirtualField(cards: [card], faults: faults)
        server = try PN532Server(
            field: field, timing: timing, faults: serial, serialLine: line, initialSpeed: initialSpeed)
        reader = try #require(
            try LibNFCDriver(patience: patience).open(server.connectionString + speed, cancellation: cancellation))
    }

    deinit {
        reader.close()
        server.stop()
    }

    /// How many host commands the chip has got.
    var hostCommands: Int { server.statistics.hostCommands }

    /// The present speed of the chip's serial line.
    var chipSpeed: Int { server.statistics.bitsPerSecond }

    /// How often the chip was told to change its speed.
    var speedCommands: Int { server.statistics.commandsByCode[0x10, default: 0] }

    /// Does so many exchanges, which must all be answered.
    func work(_ exchanges: Int) throws {
        for number in 0..<exchanges {
            let echo: [UInt8] = [5, 0xF0, 0x00, UInt8(truncatingIfNeeded: number), 0xA5]
            #expect(try exchange(echo) == [5, 0xF1] + echo[2...])
        }
    }

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
