// SPDX-License-Identifier: Apache-2.0

internal import VirtualReader

/// The USB port of a simulated reader: pending transfers, counts and faults.
package struct USBPort: Sendable {
    private let field: any RadioField
    private let faults: InjectedUSBFaults
    private var outbox: USBOutbox
    private var isDead = false
    /// Whether it was unplugged.
    private(set) var isUnplugged = false
    /// The counts so far.
    var statistics = USBChipStatistics()

    init(_ field: any RadioField, _ faults: InjectedUSBFaults) {
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

    /// Unplugs the reader: cards lose their power.
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

    /// Counts a command, and returns its fault.
    mutating func begin() -> InjectedUSBFault? {
        statistics.hostCommands += 1
        let fault = faults.atCommand[statistics.hostCommands]
        if fault == .dead { isDead = true }
        return fault
    }

    /// Counts a command by its code.
    mutating func count(_ code: UInt8) {
        statistics.commandsByCode[code, default: 0] += 1
    }

    /// Records a host action that a real reader would not have accepted.
    mutating func complain(_ complaint: String) {
        statistics.complaints.append(complaint)
    }

    /// Queues a transfer for the host.
    mutating func add(_ transfer: [UInt8]) {
        outbox.add(transfer)
    }

    /// Discards pending transfers, because the host aborted the command.
    mutating func giveUp() {
        outbox = USBOutbox([])
    }

    /// Queues an answer, after its acknowledgement where there is one, and applies the fault if it is one of transfers.
    mutating func answer(_ transfer: [UInt8], after acknowledge: [UInt8]? = nil, with fault: InjectedUSBFault?) {
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

/// A fault between a simulated USB reader and its host.
package enum InjectedUSBFault: Hashable, Sendable {
    /// The command is lost: no acknowledgement, no answer.
    case nothing
    /// The acknowledgement comes, the answer does not.
    case acknowledgeOnly
    /// The answer comes without an acknowledgement before it.
    case noAcknowledge
    /// The answer comes twice.
    case twice
    /// Acknowledgement and answer come only after the host has asked for them without success.
    case late
    /// The acknowledgement comes in time, the answer only after the host has asked for it without success.
    case lateAnswer
    /// The checksum of the answer's data is wrong.
    case wrongDataChecksum
    /// The checksum of the answer's length is wrong.
    case wrongLengthChecksum
    /// Only the first bytes of the answer come.
    case truncated(to: Int)
    /// These bytes come instead of the answer.
    case garbage([UInt8])
    /// The answer is another command's.
    case wrongCode
    /// The chip reports that it could not parse the command.
    case errorFrame
    /// From now on there are no transfers at all.
    case dead
    /// The reader reports that it is busy with another command. Port-400 only.
    case busy
    /// The reader asks for more time, twice, before it answers. Port-400 only.
    case moreTime
    /// The answer has another command's number. Port-400 only.
    case wrongSequence
    /// Another program has a session with the reader. Port-400 only.
    case sessionTaken
}

/// The faults between a simulated USB reader and its host, as data.
package struct InjectedUSBFaults: Hashable, Sendable {
    /// The fault at each command; commands are counted from 1.
    package var atCommand: [Int: InjectedUSBFault]
    /// The transfer, counted from 1 in both directions together, before which the reader is unplugged; `nil` for never.
    package var unplugBeforeTransfer: Int?
    /// The pending data that a killed program left, one transfer each.
    package var leftover: [[UInt8]]

    /// Creates a plan; an empty one has no faults.
    package init(
        atCommand: [Int: InjectedUSBFault] = [:], unplugBeforeTransfer: Int? = nil, leftover: [[UInt8]] = []
    ) {
        self.atCommand = atCommand
        self.unplugBeforeTransfer = unplugBeforeTransfer
        self.leftover = leftover
    }
}
