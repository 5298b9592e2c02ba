// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Raising the serial line for a long job, and lowering it again.
extension Chipset {
    /// Why a reader is lost that says nothing since its line was raised: the chip leaves a speed by command only, and
    /// hears none.
    static func stuck(at speed: LineSpeed = .fast) -> TransportError {
        .readerFailed(detail: .init(.lineTooFast, LinePermission.variable, "\(speed.bitsPerSecond)"))
    }

    /// Raises the line when the session has become a long one.
    ///
    /// - Throws: ``TransportError`` when the reader is lost or work was cancelled. A line that cannot do it is no
    ///   error: it stays as it was.
    mutating func raiseLineWhenDue() throws(TransportError) {
        guard line.isDue else { return }
        guard let port = transport.port, port.mayRaise, port.takes(fastSpeed, from: speed) else {
            line.settle()
            return
        }
        // From here on the chip may change: an ACK is what confirms it, and to cancel is to send one.
        line.begin()
        switch outcome(of: ChipCommand.serialSpeed(fastSpeed)) {
        case .success: break
        case .failed(let error), .readerInDoubt(let error): return try stayNormal(after: error)
        }
        guard port.confirm(fastSpeed) else { return try stayNormal(after: ChipResult.damagedOnTheWay) }
        switch outcome(of: ChipCommand.firmwareVersion) {
        case .success: line.didRaise()
        case .failed(let error), .readerInDoubt(let error): return try stayNormal(after: error)
        }
    }

    /// Lowers the line, as the next program expects it. Does nothing at the normal speed.
    ///
    /// - Parameter forGood: whether the port is not to be raised again in this process.
    mutating func lowerLine(forGood: Bool = false) {
        guard line.mayBeFast else { return }
        guard line.state != .unsure, outcome(of: ChipCommand.serialSpeed(speed)) == .success else {
            return abandonFastLine(forGood: forGood)
        }
        line.settle()
        if forGood { transport.port?.withdrawPermission() }
        transport.port?.confirm(speed)
    }

    /// Lowers a line on which host and chip may not understand each other.
    mutating func abandonFastLine(forGood: Bool) {
        line.settle()
        if forGood { transport.port?.withdrawPermission() }
        transport.port?.lowerChip(from: fastSpeed, to: speed, patience: transport.patience)
    }

    private mutating func stayNormal(after error: TransportError) throws(TransportError) {
        guard error != .cancelled else {
            isInDoubt = true
            throw .cancelled
        }
        _ = recover(from: error)
        if let lost { throw lost }
    }

    private func outcome(of command: [UInt8]) -> ChipResult {
        send(command, waiting: Self.commandTime).outcome
    }
}
