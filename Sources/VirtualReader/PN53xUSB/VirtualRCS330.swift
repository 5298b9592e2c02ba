// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An RC-S330, RC-S360 or RC-S370: PN53x frames as they are over two bulk endpoints.
///
/// Behaviour as libnfc 1.8.0 (`libnfc/drivers/pn53x_usb.c`) and nfcpy (`nfc/clf/rcs956.py`) need it; Sony publishes no
/// manual.
public final class VirtualRCS330: VirtualUSBChip {
    private let port: Mutex<PN53xPort>

    /// A reader before a field.
    ///
    /// - Parameters:
    ///   - field: what lies before its antenna.
    ///   - faults: what goes wrong on the USB; of ``USBFault`` those that lose, delay, double, cut or replace an answer,
    ///     while the others leave it as it is.
    public init(field: any RadioField, faults: USBFaultPlan = USBFaultPlan()) {
        port = Mutex(PN53xPort(.rcs956, field: field, faults: faults))
    }

    /// What was counted so far.
    public var statistics: USBChipStatistics { port.withLock { $0.statistics } }

    /// Whether the plug was pulled.
    public var isUnplugged: Bool { port.withLock { $0.isUnplugged } }

    /// Gives the next transfer to the host.
    public func nextTransfer() -> [UInt8]? {
        port.withLock { $0.nextTransfer() }
    }

    /// Takes a frame from the host and does what it says.
    public func receive(_ transfer: [UInt8]) {
        port.withLock { port in
            guard port.arrives() else { return }
            var parser = HostFrameParser()
            parser.feed(transfer)
            switch parser.next() {
            case .acknowledge: port.giveUp()
            case .notAcknowledge: port.complain("an RC-S330 does not know NACK")
            case .command(let command):
                let fault = port.begin(command.first ?? 0)
                port.line.begin(transfer)
                port.chip.run()
                let written = port.line.takeWritten()
                guard written.count == 2 else {
                    if let acknowledge = written.first { port.answer(acknowledge, with: fault) }
                    return
                }
                port.answer(written[1], after: written[0], with: fault)
            // An empty transfer ends one whose length is a multiple of the endpoint's packet size.
            case nil: if !transfer.isEmpty { port.complain("no frame came from the host") }
            }
        }
    }
}
