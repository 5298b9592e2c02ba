// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport

/// What a Port-100 was told: its modulation and its protocol.
struct Port100Registers: Sendable {
    var isFieldOn = false
    var isCommandTypeSet = false
    private var technology: RadioTechnology?
    /// The values by number, `nil` until the host has set them.
    private var values: [UInt8: UInt8]?

    /// InSetRF.
    ///
    /// - Returns: the status.
    mutating func setRadio(_ parameters: [UInt8]) -> UInt8 {
        let known: RadioTechnology? =
            switch parameters {
            case [0x01, 0x01, 0x0F, 0x01]: .felica(.kbps212)
            case [0x01, 0x02, 0x0F, 0x02]: .felica(.kbps424)
            case [0x02, 0x03, 0x0F, 0x03]: .typeA
            case [0x03, 0x07, 0x0F, 0x07]: .typeB
            default: nil
            }
        guard let known else { return 0x01 }
        technology = known
        // Nobody knows whether the chip keeps them; a host must not rely on it.
        values = nil
        return 0x00
    }

    /// InSetProtocol.
    ///
    /// - Returns: the status.
    mutating func setProtocol(_ parameters: [UInt8]) -> UInt8 {
        guard parameters.count % 2 == 0, !parameters.isEmpty else { return 0x01 }
        var values = values ?? [:]
        for index in stride(from: 0, to: parameters.count, by: 2) {
            guard parameters[index] <= 0x13 else { return 0x01 }
            values[parameters[index]] = parameters[index + 1]
        }
        self.values = values
        return 0x00
    }

    /// A host's bytes as they go into the air; `nil` while the chip was not told how.
    func frame(_ bytes: [UInt8]) -> RadioFrame? {
        guard let technology, let values else { return nil }
        let bits = Int(values[0x07] ?? 8)
        return RadioFrame(
            technology, bytes, lastByteBits: (1...8).contains(bits) ? bits : 8, hasCRC: values[0x01] != 0)
    }

    /// A card's answer as the host gets it; `nil` when the chip looks for a CRC that is not there.
    func received(_ answer: CardAnswer) -> [UInt8]? {
        guard values?[0x02] != 0 else {
            // Not checked, so not taken off.
            guard answer.hasCRC, let technology else { return answer.frame }
            return answer.frame + Checksum.bytes(of: answer.frame, technology)
        }
        return answer.hasCRC ? answer.frame : nil
    }
}
