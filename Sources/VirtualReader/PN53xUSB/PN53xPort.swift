// SPDX-License-Identifier: Apache-2.0

/// A chip of the PN53x family behind a USB plug: what every such reader has in common.
struct PN53xPort {
    let chip: PN532Chip
    let line = TransferLine()
    private let faults: USBFaultPlan
    private var outbox: USBOutbox
    private var counted = USBChipStatistics()
    private(set) var isUnplugged = false
    private var isDead = false

    init(_ model: PN53xModel, field: any RadioField, faults: USBFaultPlan) {
        chip = PN532Chip(field: field, line: line)
        chip.family = model
        self.faults = faults
        outbox = USBOutbox(faults.leftover)
    }

    var statistics: USBChipStatistics {
        var statistics = counted
        let radio = chip.counters.statistics
        statistics.exchanges = radio.exchanges
        statistics.answeredExchanges = radio.answeredExchanges
        statistics.isFieldOn = chip.registers.isFieldOn && !isUnplugged
        return statistics
    }

    mutating func complain(_ complaint: String) {
        counted.complaints.append(complaint)
    }

    /// Whether a transfer from the host arrives.
    mutating func arrives() -> Bool {
        guard !plugIsPulled() else { return false }
        counted.transfersFromHost += 1
        return !isDead
    }

    /// The next transfer to the host.
    mutating func nextTransfer() -> [UInt8]? {
        guard !plugIsPulled(), !isDead, let transfer = outbox.next() else { return nil }
        counted.transfersToHost += 1
        return transfer
    }

    /// Forgets what the host has not fetched, since it gave the command up.
    mutating func giveUp() {
        outbox = USBOutbox([])
    }

    /// Counts a command; gives what goes wrong with it.
    mutating func begin(_ code: UInt8) -> USBFault? {
        counted.hostCommands += 1
        counted.commandsByCode[code, default: 0] += 1
        let fault = faults.atCommand[counted.hostCommands]
        if fault == .dead { isDead = true }
        return fault
    }

    /// Lets the host fetch an answer, after its acknowledgement where there is one.
    mutating func answer(_ transfer: [UInt8], after acknowledge: [UInt8]? = nil, with fault: USBFault?) {
        switch fault {
        case .nothing, .dead: return
        case .late: outbox.addPause()
        default: break
        }
        if let acknowledge, fault != .noAcknowledge { outbox.add(acknowledge) }
        switch fault {
        case .acknowledgeOnly: return
        case .lateAnswer:
            outbox.addPause()
            outbox.add(transfer)
        case .twice:
            outbox.add(transfer)
            outbox.add(transfer)
        case .truncated(let count): outbox.add(Array(transfer.prefix(max(0, count))))
        case .garbage(let bytes): outbox.add(bytes)
        default: outbox.add(transfer)
        }
    }

    private mutating func plugIsPulled() -> Bool {
        if let last = faults.unplugBeforeTransfer, counted.transfers + 1 >= last, !isUnplugged {
            isUnplugged = true
            chip.field.switchOff()
        }
        return isUnplugged
    }
}
