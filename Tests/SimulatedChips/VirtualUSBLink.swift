// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import ReaderCore
package import USBTransport

/// A driver's link to a simulated chip in the same process; nobody waits for anything, and one thread at a time uses it.
package final class VirtualUSBLink: USBLink, @unchecked Sendable {
    package let chip: any VirtualUSBChip
    private let cancellation: CancellationToken
    private var isListening = true
    /// Every transfer in hexadecimal digits, `>` from the host, `<` from the reader.
    package private(set) var log: [String] = []
    package private(set) var closings = 0
    /// Called before each transfer with its number, counted from 1.
    package var beforeTransfer: ((Int) -> Void)?
    /// How many transfers there were or should have been.
    package private(set) var transfers = 0

    package init(_ chip: any VirtualUSBChip, _ cancellation: CancellationToken = CancellationToken()) {
        self.chip = chip
        self.cancellation = cancellation
    }

    package func send(_ bytes: [UInt8], within time: Duration) throws(USBError) {
        try begin()
        log.append(">" + Hex.encode(bytes))
        chip.receive(bytes)
        if chip.isUnplugged { throw .gone }
    }

    package func receive(within time: Duration) throws(USBError) -> [UInt8] {
        try begin()
        guard let bytes = chip.nextTransfer() else { throw chip.isUnplugged ? .gone : .timedOut }
        log.append("<" + Hex.encode(bytes))
        return bytes
    }

    package func ignoreCancellation() { isListening = false }

    package func close() { closings += 1 }

    /// What was logged since the last call.
    package func takeLog() -> [String] {
        defer { log = [] }
        return log
    }

    private func begin() throws(USBError) {
        transfers += 1
        beforeTransfer?(transfers)
        if closings > 0 || chip.isUnplugged { throw .gone }
        if isListening, cancellation.isCancelled { throw .cancelled }
    }
}
