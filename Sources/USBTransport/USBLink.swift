// SPDX-License-Identifier: Apache-2.0

/// The two bulk endpoints of a reader that was opened: all that a chip's driver sees of the USB.
///
/// A link belongs to one thread at a time and listens to the cancellation token that it was opened with.
package protocol USBLink: AnyObject {
    /// Sends one bulk transfer; one that ends with a full packet is followed by an empty packet, so that the reader
    /// sees its end.
    func send(_ bytes: [UInt8], within time: Duration) throws(USBError)

    /// Takes one bulk transfer: what the reader sends up to a packet that is not full. It may be empty.
    func receive(within time: Duration) throws(USBError) -> [UInt8]

    /// Listens no more to the cancellation token: what has to be done before closing is done whether or not work was
    /// cancelled.
    func ignoreCancellation()

    /// Gives the interface back to the kernel driver that held it, and closes the device. Further calls do nothing;
    /// sending and receiving afterwards is ``USBError/gone``.
    func close()
}
