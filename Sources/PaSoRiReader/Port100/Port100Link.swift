// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Commands to a Port-100 and their answers.
typealias Port100Link = PaSoRiLink<Port100Dialogue>

extension Port100Link {
    convenience init(_ usb: any USBLink) {
        self.init(usb, Port100Dialogue())
    }

    /// Sends a command and returns what follows the answer's code.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    func run(
        _ command: Port100Command, _ parameters: [UInt8], within time: Duration = .zero
    ) throws(TransportError) -> [UInt8] {
        try run(Port100Dialogue.bytes(command, parameters), within: time)
    }
}
