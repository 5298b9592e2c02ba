// SPDX-License-Identifier: Apache-2.0

/// A chip of the PN53x family behind a USB plug: what every such reader has in common.
struct PN53xCore {
    let chip: PN532Chip
    let line = TransferLine()

    init(_ model: PN53xModel, _ field: any RadioField) {
        chip = PN532Chip(field: field, line: line)
        chip.family = model
    }

    /// What the chip has counted.
    func complete(_ statistics: inout USBChipStatistics) {
        let radio = chip.counters.statistics
        statistics.exchanges = radio.exchanges
        statistics.answeredExchanges = radio.answeredExchanges
        statistics.isFieldOn = chip.registers.isFieldOn
    }
}
