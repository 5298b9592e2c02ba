// SPDX-License-Identifier: Apache-2.0

internal import ISODEP

extension Port100Setting {
    /// What a frame of ISO 14443 needs.
    ///
    /// Source: nfcpy's `rcs380.py`. A short frame has no parity bit; the parity of its answer is checked as any other's.
    /// That an anticollision frame whose last byte is not whole needs number 6 as well is inferred from its name.
    static func iso14443(_ frame: RawFrame) -> Port100Setting {
        var setting: Port100Setting
        switch frame.modulation {
        case .typeA:
            setting = Port100Setting(radio: [0x02, 0x03, 0x0F, 0x03], protocolValues: defaults)
            setting.protocolValues[Number.initialGuardTime] = 0x06
            let isWhole = frame.lastByteBits == 8
            setting.protocolValues[Number.addParity] = isWhole || frame.bytes.count > 1 ? 1 : 0
            setting.protocolValues[Number.bitwiseAnticollision] = isWhole || frame.bytes.count == 1 ? 0 : 1
            setting.protocolValues[Number.checkParity] = 1
            setting.protocolValues[Number.lastByteBits] = UInt8(clamping: frame.lastByteBits)
        case .typeB:
            setting = Port100Setting(radio: [0x03, 0x07, 0x0F, 0x07], protocolValues: defaults)
            setting.protocolValues[Number.initialGuardTime] = 0x14
            for number in [
                Number.addStartOfFrame, Number.checkStartOfFrame, Number.addEndOfFrame, Number.checkEndOfFrame,
            ] {
                setting.protocolValues[number] = 1
            }
        }
        setting.protocolValues[Number.addCRC] = frame.addsCRC ? 1 : 0
        setting.protocolValues[Number.checkCRC] = frame.checksCRC ? 1 : 0
        return setting
    }
}
