// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import SystemDevices

/// Carries raw commands to a PN53x chip and its answers back: through libnfc, or directly over a serial port.
///
/// Used by one thread; only ``abort`` can be called from another one.
protocol PN53xTransport: AnyObject {
    /// The reader's own name.
    var name: String { get }
    /// The limits of the link.
    var family: ReaderFamily { get }
    /// The serial port or device file, locked against other programs; `nil` on USB.
    var port: SerialPort? { get }
    /// Whether the reader was unplugged, as far as the system shows it.
    var isGone: Bool { get }
    /// The factor by which waits exceed those for a real chip.
    var patience: Int { get }
    /// Whether the chip accepts SetParameters while a card may be selected.
    var takesParameters: Bool { get }
    /// The chip's state after the transport has opened it.
    var initialState: ChipState { get }
    /// The commands that switch the field off before ``close()``; none where ``close()`` does it.
    var closingCommands: [[UInt8]] { get }
    /// Ends the running or the next ``transceive(_:within:)``. It must not be called once the transport is closed.
    var abort: @Sendable () -> Void { get }

    /// Sends one raw command, starting with the command code, and returns the chip's answer.
    ///
    /// - Parameter time: how long the chip may take.
    func transceive(_ command: [UInt8], within time: Duration) -> ChipAnswer

    /// How long an exchange of APDUs may go on after the chip has taken the command, because its card asks for more time. Zero
    /// where a chip that is busy cannot be told from one that hangs.
    var longestExtension: Duration { get }

    /// The same for a command whose card may ask for more time.
    func transceiveExtended(_ command: [UInt8], within time: Duration) -> ChipAnswer

    /// Shows a signal by the reader's lights and buzzer; `false` where there are none.
    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool

    /// Keeps the reader from beeping by itself; `false` where it may beep all the same.
    func silence() throws(TransportError) -> Bool

    /// Clears an ``abort`` that no command has consumed, so that closing is not disturbed.
    func ignoreAbort()

    /// Releases the device. Further calls do nothing.
    func close()
}

extension PN53xTransport {
    var isGone: Bool { port?.isGone ?? false }

    var longestExtension: Duration { .zero }

    func transceiveExtended(_ command: [UInt8], within time: Duration) -> ChipAnswer {
        transceive(command, within: time)
    }

    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool { false }

    func silence() throws(TransportError) -> Bool { true }
}

/// The outcome of one raw chip command.
struct ChipAnswer: Hashable, Sendable {
    /// The outcome, with the chip's status already taken into account.
    let outcome: ChipResult
    /// The bytes after the answer's code, with the status byte where the command has one; empty after a failure.
    let bytes: [UInt8]
    /// The chip's status byte, zero when there was none.
    var status: UInt8 = 0
    /// Whether the chip may have refused the command: its error frame, or what a link makes of it.
    var mayBeRefusal = false
}

extension ChipAnswer {
    /// What a command was answered with: the bytes after the answer's code.
    init(to command: [UInt8], _ bytes: [UInt8]) {
        guard ChipCommand.answersWithStatus(command) else {
            self.init(outcome: .success, bytes: bytes)
            return
        }
        guard let status = bytes.first else {
            self.init(outcome: .readerInDoubt(ChipResult.damagedOnTheWay), bytes: [])
            return
        }
        let outcome = ChipResult(status: status)
        self.init(outcome: outcome, bytes: outcome == .success ? bytes : [], status: status)
    }
}

/// The initial settings of an opened chip.
struct ChipState: Hashable, Sendable {
    /// How long it waits for a card; `nil` when that is not known.
    var timeout: ChipTimeout?
    /// Whether it sends RATS to a card of type A that supports ISO-DEP; `nil` when that is not known.
    var sendsRATS: Bool?
}
