// SPDX-License-Identifier: Apache-2.0

/// A way in which one host command goes wrong between chip and host.
public enum SerialFault: Hashable, Sendable {
    /// The chip did not hear the command: neither ACK nor answer, and nothing is carried out.
    case noAcknowledge
    /// The command is acknowledged and carried out, and its answer is lost.
    case acknowledgeOnly
    /// NACK in the place of ACK; nothing is carried out.
    case notAcknowledge
    /// ACK, then the chip's syntax error frame; nothing is carried out.
    case syntaxError
    /// The answer's data checksum is off by one.
    case wrongDataChecksum
    /// The answer's length checksum is off by one.
    case wrongLengthChecksum
    /// Only the first `count` bytes of the answer frame arrive.
    case truncated(count: Int)
    /// These bytes stand before the answer frame.
    case junkBefore([UInt8])
    /// The first `count` bytes of the answer frame, a pause, the rest.
    case split(count: Int, pause: Duration)
    /// The answer comes this much later, unless the host gives up or asks something else before.
    case late(Duration)
    /// The answer frame is sent twice.
    case twice
    /// These bits are set in the answer's status byte; bit 7 (80) makes libnfc 1.8.0 call `abort()`.
    case statusBits(UInt8)
    /// The chip hears and says nothing from this command on.
    case dead
}
