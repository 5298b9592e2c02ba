// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardModel
internal import NFCTransport

extension CardState {
    /// Polling: the first system with a matching code, FF matching any byte, answers and becomes the addressed one.
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

    /// The answer to request code 2: bit 0 is 212 kbit/s, bit 1 is 424, bit 7 that the card detects the speed by
    /// itself.
    private var communicationPerformance: UInt16 {
        profile.bitRates.contains(.kbps424) ? profile.bitRates.contains(.kbps212) ? 0x0083 : 0x0082 : 0x0081
    }
}

/// The commands that identify the card.
extension CardState {
    /// Handles the commands with two reserved bytes and an answer from the card file.
    func productData(
        _ data: [UInt8]?, _ parameters: inout ByteReader, flags: Bool = true
    ) throws(ByteCodecError) -> Reply? {
        _ = try parameters.readUInt16(.little)
        return data.map { Reply((flags ? [0, 0] : []) + $0) }
    }

    /// Request Product Information.
    func productInformation() -> Reply? {
        guard let data = profile.product.productInformation, let length = UInt8(exactly: data.count) else { return nil }
        return Reply([0, 0, length] + data)
    }

    /// Reset Mode: the mode is 0 already, since authentication is not simulated.
    func resetMode(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        _ = try parameters.readUInt16(.little)
        return Reply([0, 0])
    }

    /// Get Container ID: two reserved bytes, no IDm.
    func containerID(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        _ = try parameters.readUInt16(.little)
        return profile.product.containerID.map { Reply($0) }
    }

    /// Get Container Property: an index, no IDm.
    func containerProperty(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        let index = try parameters.readUInt16(.little)
        return profile.product.containerProperties[index].map { Reply($0) }
    }

    /// Echo: the second byte of its code is 00; the data after it is returned unchanged.
    func echo(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        guard try parameters.readUInt8() == 0x00 else { return nil }
        let data = parameters.readRest()
        return data.count <= profile.echoLimit ? Reply([0x00] + data) : nil
    }
}
