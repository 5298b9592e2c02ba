// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
package import VirtualReader

/// An RC-S330, RC-S360 or RC-S370, or an SCL3711: raw PN53x frames over two bulk endpoints.
///
/// Behavior as libnfc 1.8.0 (`libnfc/drivers/pn53x_usb.c`) and nfcpy (`nfc/clf/rcs956.py`) require it; Sony publishes
/// no manual.
package typealias VirtualPN53xUSB = VirtualUSBReader<PN53xUSBFirmware>

extension VirtualPN53xUSB {
    /// Creates a reader over a field.
    ///
    /// - Parameters:
    ///   - field: the field over its antenna.
    ///   - condition: its initial condition.
    ///   - faults: the faults on the USB; of ``InjectedUSBFault`` those that lose, delay, double, cut or replace an
    ///     answer, while the others have no effect on it.
    package convenience init(
        _ model: PN53xUSBFirmware.Model = .rcs330, field: any RadioField,
        faults: InjectedUSBFaults = InjectedUSBFaults(), condition: PN53xUSBFirmware.Condition = .well
    ) {
        self.init(PN53xUSBFirmware(model == .rcs330 ? .rcs956 : .pn533, field, condition), field, faults)
    }

    /// Configures the device (SET_CONFIGURATION), the first step of programs.
    package func configure() {
        withFirmware { $0.configure() }
    }
}

/// Handles the host's frames of an RC-S330, or of a reader with a PN533.
///
/// For an RC-S330: once a FeliCa card was found, the chip has to be reset (ResetMode) before the device is configured
/// again, as programs do on opening it: otherwise it gets stuck, and answers SetParameters with the error frame (libnfc
/// issues 278, 515 and 546).
package struct PN53xUSBFirmware: USBFirmware {
    /// The reader's model.
    package enum Model: Hashable, Sendable {
        /// An RC-S330, RC-S360 or RC-S370, whose chip is an RC-S956.
        case rcs330
        /// An SCL3711, whose chip is a PN533.
        case scl3711
    }

    /// The condition in which earlier programs have left an RC-S330.
    package enum Condition: Hashable, Sendable {
        /// It was just plugged in, or reset.
        case well
        /// A program found a FeliCa card and did not reset it: it needs a reset of the USB port.
        case stuckUntilReset
        /// The same, and only plugging it in again helps.
        case stuckUntilReplugged
    }

    private let core: PN53xCore
    private let model: PN53xModel
    /// Whether a reset of the USB port helps when it is stuck.
    private let isHealedByReset: Bool
    private var hasFoundFeliCa = false
    private var hasLookedForCards = false
    private var isStuck: Bool

    private static let setParameters: UInt8 = 0x12
    private static let resetMode: UInt8 = 0x18
    private static let listPassiveTarget: UInt8 = 0x4A

    init(_ model: PN53xModel, _ field: any RadioField, _ condition: Condition = .well) {
        core = PN53xCore(model, field)
        self.model = model
        isStuck = condition != .well
        isHealedByReset = condition != .stuckUntilReplugged
    }

    package func complete(_ statistics: inout USBChipStatistics) {
        core.complete(&statistics)
    }

    /// SET_CONFIGURATION, the first step of programs.
    mutating func configure() {
        if hasFoundFeliCa, model == .rcs956 { isStuck = true }
        hasLookedForCards = false
    }

    /// A reset of the USB port.
    package mutating func reset() {
        hasFoundFeliCa = false
        if isHealedByReset { isStuck = false }
        configure()
    }

    package mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
        var parser = HostFrameParser()
        parser.feed(transfer)
        switch parser.next() {
        case .acknowledge: port.giveUp()
        case .notAcknowledge: if model == .rcs956 { port.complain("an RC-S330 does not know NACK") }
        case .command(let command):
            let fault = port.begin()
            port.count(command.first ?? 0)
            let isRefused =
                model == .rcs956 && command.first == Self.setParameters && (isStuck || hasLookedForCards)
            if isRefused, !isStuck { port.complain("SetParameters in mid-session") }
            core.line.begin(transfer)
            core.chip.run()
            var written = core.line.takeWritten()
            if isRefused, written.count == 2 { written[1] = PN532Frame.syntaxError }
            note(command, written)
            guard written.count == 2 else {
                if let acknowledge = written.first { port.answer(acknowledge, with: fault) }
                return
            }
            port.answer(written[1], after: written[0], with: fault)
        // An empty transfer ends one whose length is a multiple of the endpoint's packet size.
        case nil: if !transfer.isEmpty { port.complain("no frame came from the host") }
        }
    }

    private mutating func note(_ command: [UInt8], _ written: [[UInt8]]) {
        switch command.first {
        case Self.resetMode: hasFoundFeliCa = false
        case Self.listPassiveTarget:
            hasLookedForCards = true
            // The number of targets, after the head of the frame and the answer's code.
            let isFeliCa = [0x01, 0x02].contains(command.element(at: 2) ?? 0)
            if isFeliCa, (written.last?.element(at: 7) ?? 0) > 0 { hasFoundFeliCa = true }
        default: break
        }
    }
}

/// A chip of the PN53x family with a USB connection: the common part of all such readers.
struct PN53xCore {
    let chip: PN532Chip
    let line = TransferLine()

    init(_ model: PN53xModel, _ field: any RadioField) {
        chip = PN532Chip(model, field: field, line: line)
    }

    /// Adds the chip's counts.
    func complete(_ statistics: inout USBChipStatistics) {
        let radio = chip.statistics
        statistics.exchanges = radio.exchanges
        statistics.answeredExchanges = radio.answeredExchanges
        statistics.isFieldOn = radio.isFieldOn
    }
}

/// A chip's line to a host that sends whole transfers, with a clock that only the chip's own waits advance.
///
/// The chip works synchronously: a wait of more than ``patience`` counts as aborted by the host.
final class TransferLine: HostLine {
    /// The longest wait of a chip during one transfer; longer than its longest time-out of 3.3 s.
    private static let patience = Duration.seconds(5)

    private(set) var now = Duration.zero
    private var limit = TransferLine.patience
    private var incoming: [UInt8] = []
    private var written: [[UInt8]] = []

    /// Begins a new transfer from the host.
    func begin(_ transfer: [UInt8] = []) {
        incoming = transfer
        limit = now + Self.patience
    }

    /// Returns the chip's writes since the last call, one element each.
    func takeWritten() -> [[UInt8]] {
        defer { written = [] }
        return written
    }

    func read(until deadline: Duration?) -> LineEvent {
        guard incoming.isEmpty else {
            defer { incoming = [] }
            return .bytes(incoming)
        }
        guard let deadline, deadline <= limit else { return .closed }
        now = max(now, deadline)
        return .deadline
    }

    func write(_ bytes: [UInt8]) {
        written.append(bytes)
    }

    func sleep(until deadline: Duration) {
        now = max(now, deadline)
    }
}
