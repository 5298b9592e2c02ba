// SPDX-License-Identifier: Apache-2.0

/// What an RC-S330 does with its host's frames.
struct RCS330Firmware: USBFirmware {
    private let core: PN53xCore

    init(_ field: any RadioField) {
        core = PN53xCore(.rcs956, field)
    }

    func complete(_ statistics: inout USBChipStatistics) {
        core.complete(&statistics)
    }

    func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        var parser = HostFrameParser()
        parser.feed(transfer)
        switch parser.next() {
        case .acknowledge: port.giveUp()
        case .notAcknowledge: port.complain("an RC-S330 does not know NACK")
        case .command(let command):
            let fault = port.begin()
            port.count(command.first ?? 0)
            core.line.begin(transfer)
            core.chip.run()
            let written = core.line.takeWritten()
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
