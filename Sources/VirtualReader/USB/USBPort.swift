// SPDX-License-Identifier: Apache-2.0

/// The plug of a simulated USB reader: what waits to be fetched, what was counted, and what goes wrong.
struct USBPort: Sendable {
    private let field: any RadioField
    private let faults: USBFaultPlan
    private var outbox: USBOutbox
    private var isDead = false
    /// Whether the plug was pulled.
    private(set) var isUnplugged = false
    /// What was counted so far.
    var statistics = USBChipStatistics()

    init(_ field: any RadioField, _ faults: USBFaultPlan) {
        self.field = field
        self.faults = faults
        outbox = USBOutbox(faults.leftover)
    }

    // MARK: The host's side

    /// Counts a transfer from the host.
    ///
    /// - Returns: whether it arrives.
    mutating func arrives() -> Bool {
        guard !plugIsPulled() else { return false }
        statistics.transfersFromHost += 1
        return !isDead
    }

    /// The next transfer to the host.
    mutating func nextTransfer() -> [UInt8]? {
        guard !plugIsPulled(), !isDead, let transfer = outbox.next() else { return nil }
        statistics.transfersToHost += 1
        return transfer
    }

    /// Pulls the plug: cards lose their power.
    mutating func unplug() {
        guard !isUnplugged else { return }
        isUnplugged = true
        field.switchOff()
    }

    private mutating func plugIsPulled() -> Bool {
        if let last = faults.unplugBeforeTransfer, statistics.transfers + 1 >= last { unplug() }
        return isUnplugged
    }

    // MARK: The chip's side

    /// Counts a command, and gives what goes wrong with it.
    mutating func begin() -> USBFault? {
        statistics.hostCommands += 1
        let fault = faults.atCommand[statistics.hostCommands]
        if fault == .dead { isDead = true }
        return fault
    }

    /// Counts a command by its code.
    mutating func count(_ code: UInt8) {
        statistics.commandsByCode[code, default: 0] += 1
    }

    /// Notes what the host did that a real reader would not have taken.
    mutating func complain(_ complaint: String) {
        statistics.complaints.append(complaint)
    }

    /// Lets the host fetch a transfer.
    mutating func add(_ transfer: [UInt8]) {
        outbox.add(transfer)
    }

    /// Forgets what the host has not fetched, since it gave the command up.
    mutating func giveUp() {
        outbox = USBOutbox([])
    }

    /// Lets the host fetch an answer, after its acknowledgement where there is one, with the fault as far as it is one
    /// of transfers.
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
}
