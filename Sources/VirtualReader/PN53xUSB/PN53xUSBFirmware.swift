// SPDX-License-Identifier: Apache-2.0

import ByteCodec

/// What an RC-S330, or a reader with a PN533, does with its host's frames.
///
/// Of an RC-S330: once a FeliCa card was found, the chip has to be reset (ResetMode) before the device is configured again, as programs do
/// that open it: else it gets stuck, and answers SetParameters with the error frame (libnfc issues 278, 515 and 546).
struct PN53xUSBFirmware: USBFirmware {
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

    init(_ model: PN53xModel, _ field: any RadioField, _ condition: VirtualPN53xUSB.Condition = .well) {
        core = PN53xCore(model, field)
        self.model = model
        isStuck = condition != .well
        isHealedByReset = condition != .stuckUntilReplugged
    }

    func complete(_ statistics: inout USBChipStatistics) {
        core.complete(&statistics)
    }

    /// SET_CONFIGURATION, with which programs begin.
    mutating func configure() {
        if hasFoundFeliCa, model == .rcs956 { isStuck = true }
        hasLookedForCards = false
    }

    /// A reset of the USB port.
    mutating func reset() {
        hasFoundFeliCa = false
        if isHealedByReset { isStuck = false }
        configure()
    }

    mutating func serve(_ transfer: [UInt8], _ port: inout USBPort) {
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
            // The number of targets, behind the head of the frame and the answer's code.
            let isFeliCa = [0x01, 0x02].contains(command.element(at: 2) ?? 0)
            if isFeliCa, (written.last?.element(at: 7) ?? 0) > 0 { hasFoundFeliCa = true }
        default: break
        }
    }
}
