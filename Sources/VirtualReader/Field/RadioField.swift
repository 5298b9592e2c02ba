// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// What lies before a simulated antenna, as a chip sees it: frames go in, and something or nothing comes back.
///
/// A chip calls it on its own thread, so it can be looked at meanwhile only when it guards what it records.
public protocol RadioField: AnyObject, Sendable {
    /// Sends one frame.
    func exchange(_ frame: RadioFrame) -> FieldOutcome

    /// The carrier went off: every card loses its power.
    func switchOff()

    /// The carrier went on before the first frame. A frame switches it on as well.
    func switchOn()

    /// The host let this time pass.
    func pass(_ time: Duration)
}

extension RadioField {
    /// Nothing is known of what lies in the field.
    public func switchOn() {}

    /// There is no clock.
    public func pass(_ time: Duration) {}

    /// Sends one FeliCa packet, LEN byte included, without preamble, sync code and CRC.
    public func exchange(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> FieldOutcome {
        exchange(RadioFrame(.felica(bitRate), frame))
    }
}
