// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NFCTransport

extension CardState {
    /// Polling: the first system whose code fits, FF standing for any byte, answers and becomes the addressed one.
    mutating func polling(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let wanted = try parameters.readUInt16(.big)
        let requestCode = try parameters.readUInt8()
        let slotMask = try parameters.readUInt8()
        guard requestCode <= 2, [0x00, 0x01, 0x03, 0x07, 0x0F].contains(slotMask),
            let place = systems.firstIndex(where: { CardState.matches($0.code.rawValue, wanted) }),
            let system = systems.element(at: place)
        else { return nil }
        select(place: place)
        var answer = ByteWriter(system.idm.bytes + system.pmm.bytes)
        if profile.requestCodes.contains(requestCode) {
            switch requestCode {
            case 1: answer.write(system.code.rawValue, .big)
            case 2: answer.write(communicationPerformance, .big)
            default: break
            }
        }
        return Reply(answer.bytes, units: Int(slots.next() & UInt64(slotMask)))
    }

    private static func matches(_ code: UInt16, _ wanted: UInt16) -> Bool {
        (wanted >> 8 == 0xFF || wanted >> 8 == code >> 8) && (wanted & 0xFF == 0xFF || wanted & 0xFF == code & 0xFF)
    }

    /// The answer to request code 2: bit 0 is 212 kbit/s, bit 1 is 424, bit 7 that the card finds out by itself.
    private var communicationPerformance: UInt16 {
        profile.bitRates.contains(.kbps424) ? profile.bitRates.contains(.kbps212) ? 0x0083 : 0x0082 : 0x0081
    }
}
