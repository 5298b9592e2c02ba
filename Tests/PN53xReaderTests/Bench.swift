// SPDX-License-Identifier: Apache-2.0

import CardModel
import Glibc
import ReaderCore
import Testing
import VirtualReader

@testable import PN53xReader

/// The two ways to a PN532 on a serial port. What is tested on one is tested on the other.
enum Way: String, Sendable, Codable, CaseIterable {
    case libnfc, serial

    /// - Parameter patience: how many times as long as a real chip may take it is waited for.
    func driver(patience: Int = 1) -> any ReaderDriver {
        switch self {
        case .libnfc: LibNFCDriver(patience: patience)
        case .serial: PN532Driver(patience: patience)
        }
    }

    /// The ID of the reader at a port.
    func id(_ path: String) -> String {
        switch self {
        case .libnfc: "pn532_uart:\(path)"
        case .serial: "pn532:\(path)"
        }
    }

    func open(
        _ server: PN532Server, _ cancellation: CancellationToken = CancellationToken(), speed: String = "",
        patience: Int = 20
    ) throws -> any Reader {
        try #require(try driver(patience: patience).open(id(server.path) + speed, cancellation: cancellation))
    }

    /// The commands with which a reader is closed: InRelease, field off and PowerDown, or the second one alone.
    var closingCommands: [UInt8] { self == .libnfc ? [0x52, 0x32, 0x16] : [0x32] }

    /// All pairs of something with a way, for tests of three arguments.
    static func with<Value>(_ values: some Collection<Value>) -> [(Value, Way)] {
        values.flatMap { value in allCases.map { (value, $0) } }
    }
}

/// A simulated PN532 and a driver's view of it.
final class Bench {
    let server: PN532Server
    let field: VirtualField
    let cancellation = CancellationToken()
    let reader: any Reader

    /// - Parameter patience: how many times as long as a real chip may take it is waited for. A chip that is simulated on a
    ///   busy machine is not in time; only what never answers is given up after the time of a real one.
    convenience init(
        _ way: Way = .libnfc, card: any VirtualCard = TestCard(), faults: InjectedFaults = [],
        serial: InjectedSerialFaults = .none,
        timing: TimeModel = .off, line: SerialLineModel = .plain, initialSpeed: Int = 115_200, speed: String = "",
        patience: Int = 20, collision: VirtualField.Collision = .firstIsHeard
    ) throws {
        try self.init(
            way, field: VirtualField(cards: [card], faults: faults, collision: collision), serial: serial,
            timing: timing, line: line, initialSpeed: initialSpeed, speed: speed, patience: patience)
    }

    /// The same with a field that is set up already.
    init(
        _ way: Way, field: VirtualField, serial: InjectedSerialFaults = .none, timing: TimeModel = .off,
        line: SerialLineModel = .plain, initialSpeed: Int = 115_200, speed: String = "", patience: Int = 20
    ) throws {
        self.field = field
        server = try PN532Server(
            field: field, timing: timing, faults: serial, serialLine: line, initialSpeed: initialSpeed)
        reader = try way.open(server, cancellation, speed: speed, patience: patience)
    }

    deinit {
        reader.close()
        server.stop()
    }

    /// How many host commands the chip has got.
    var hostCommands: Int { server.statistics.hostCommands }

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

extension PN532Server {
    /// Whether the chip comes to a speed, now or once it has read what the host sent last: the host's confirmation of a
    /// new speed is not answered.
    func comes(to bitsPerSecond: Int) -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while statistics.bitsPerSecond != bitsPerSecond, ContinuousClock.now < end { sched_yield() }
        return statistics.bitsPerSecond == bitsPerSecond
    }
}
