// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// What lies before a simulated antenna, as a chip sees it: frames go in, and something or nothing comes back.
public protocol RadioField: AnyObject {
    /// Sends one FeliCa packet, LEN byte included, without preamble, sync code and CRC.
    func exchange(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> FieldOutcome

    /// The carrier went off: every card loses its power.
    func switchOff()
}
