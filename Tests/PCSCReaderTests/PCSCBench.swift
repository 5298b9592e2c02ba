// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import Glibc
import ReaderCore
import PCSCReader
import TestSupport
import Testing

/// A real pcscd with virtual readers, and an open reader of it.
final class PCSCBench {
    /// libpcsclite remembers the place of the socket, so every service of this process has the same.
    private static let folder: TemporaryFolder? = try? TemporaryFolder()

    let service: PCSCService
    let cancellation = CancellationToken()
    let driver = PCSCDriver()

    init(name: String = "Kazasu Test", driver: String = PCSCService.driver) throws {
        let folder = try #require(PCSCBench.folder)
        service = try PCSCService(folder: folder.path, name: name, driver: driver)
        // Only for the first call, which reads it: the programs that other tests start must not inherit it.
        setenv(PCSCService.variable, service.socket, 1)
        defer { unsetenv(PCSCService.variable) }
        _ = self.driver.list()
    }

    deinit {
        service.stop()
    }

    /// The first reader.
    func open() throws -> any Reader {
        try #require(try driver.open("pcsc:\(service.readers[0])", cancellation: cancellation))
    }

    /// Puts a card into the first reader. The reader itself answers to `FF CA 00` with the UID, to `FF CA 01` with
    /// the ATS, when there is one.
    func insert(
        _ atr: String, uid: [UInt8]? = nil, ats: [UInt8]? = nil,
        answer: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in [0x6D, 0x00] }
    ) throws -> VPCDCard {
        try Self.insert(atr, uid: uid, ats: ats, at: service.port, answer: answer)
    }

    /// The same into the reader at a port.
    static func insert(
        _ atr: String, uid: [UInt8]?, ats: [UInt8]? = nil, at port: UInt16,
        answer: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) throws -> VPCDCard {
        try VPCDCard(port: port, atr: try Hex.decode(atr)) { command in
            guard command.starts(with: [0xFF, 0xCA]) else { return answer(command) }
            let told = command.element(2) == 0x01 ? ats : uid
            return told.map { $0 + [0x90, 0x00] } ?? [0x6A, 0x81]
        }
    }

    /// Asks for a card until one is there, waiting for events only.
    func wait(for request: ActivationRequest, on reader: any Reader) throws -> PICC? {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            if let card = try reader.activate(request) { return card }
            #expect(try reader.waitForEvent(within: deadline - .now))
        }
        return nil
    }
}

extension [UInt8] {
    fileprivate func element(_ index: Int) -> UInt8? { indices.contains(index) ? self[index] : nil }
}
