// SPDX-License-Identifier: Apache-2.0

/// What makes a simulated USB reader the one that it is: what it does with its host's transfers.
protocol USBFirmware {
    /// Does what a transfer says that has arrived, and lets the host fetch the answers.
    mutating func serve(_ transfer: [UInt8], _ port: inout USBPort)

    /// Adds to what the port has counted what only the chip knows: whether the field is on, for one.
    func complete(_ statistics: inout USBChipStatistics)
}
