// SPDX-License-Identifier: Apache-2.0

internal import SystemDevices

/// Carries raw commands to a PN53x chip and its answers back: through libnfc, or over a serial port by itself.
///
/// Used by one thread; only ``abort`` may be called from another one.
protocol PN53xTransport: AnyObject {
    /// What the reader calls itself.
    var name: String { get }
    /// What it can carry.
    var family: ReaderFamily { get }
    /// The serial port or device file, held against other programs; `nil` on USB.
    var port: SerialPort? { get }
    /// How many times as long as a real chip may take it is waited for.
    var patience: Int { get }
    /// Whether the chip takes SetParameters while a card may be selected.
    var takesParameters: Bool { get }
    /// What the chip is like when the transport has opened it.
    var initialState: ChipState { get }
    /// The commands with which the field is switched off before ``close()``; none where ``close()`` does it.
    var closingCommands: [[UInt8]] { get }
    /// Ends the running or the next ``transceive(_:within:)``. It must not be called once the transport was closed.
    var abort: @Sendable () -> Void { get }

    /// Sends one raw command, from the command code on, and returns the chip's answer.
    ///
    /// - Parameter time: how long the chip may take.
    func transceive(_ command: [UInt8], within time: Duration) -> ChipAnswer

    /// Forgets an ``abort`` that no command has met, so that closing is not disturbed.
    func ignoreAbort()

    /// Gives the device back. Further calls do nothing.
    func close()
}

/// What one raw chip command came to.
struct ChipAnswer: Hashable, Sendable {
    /// Whether it worked; the chip's status is already looked at.
    let outcome: ChipResult
    /// What followed the answer's code, with the status byte where the command has one; empty after a failure.
    let bytes: [UInt8]
    /// The chip's status byte, zero when there was none.
    var status: UInt8 = 0
}

/// What an opened chip was told before.
struct ChipState: Hashable, Sendable {
    /// How long it waits for a card; `nil` when that is not known.
    var timeout: ChipTimeout?
    /// Whether it sends RATS to a card of type A that speaks ISO-DEP; `nil` when that is not known.
    var sendsRATS: Bool?
}
