// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// Raising the serial line for a long job, and lowering it again.
extension Chipset {
    /// The error for a reader that does not answer since its line was raised: the chip changes its speed by command
    /// only, and receives none.
    static func stuck(at speed: LineSpeed = .fast) -> TransportError {
        .readerFailed(detail: .init(.lineTooFast, LinePermission.variable, "\(speed.bitsPerSecond)"))
    }

    /// Raises the line when the session has become a long one.
    ///
    /// - Throws: ``TransportError`` when the reader is lost or work was cancelled. A line that cannot be raised is not
    ///   an error: it keeps its speed.
    mutating func raiseLineWhenDue() throws(TransportError) {
        guard line.isDue else { return }
        guard let port = transport.port, port.mayRaise, port.takes(fastSpeed, from: speed) else {
            line.settle()
            return
        }
        // From here on the chip may change its speed: an ACK confirms it, and cancelling sends one.
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

    /// Lowers the line, as the next program expects. Does nothing at the normal speed.
    ///
    /// - Parameter forGood: whether the port must not be raised again in this process.
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
