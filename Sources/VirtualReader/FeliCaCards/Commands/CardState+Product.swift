// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The commands that tell what the card is.
extension CardState {
    /// The commands with two reserved bytes and an answer that the card file gives.
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

    /// Echo: the second byte of its code is 00; what follows comes back as it is.
    func echo(_ parameters: inout ByteReader) throws(ByteCodecError) -> Reply? {
        guard try parameters.readUInt8() == 0x00 else { return nil }
        let data = parameters.readRest()
        return data.count <= profile.echoLimit ? Reply([0x00] + data) : nil
    }
}
