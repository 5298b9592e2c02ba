// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// Frames to cards through a Port-100, which is told how to send them only when that changes.
final class Port100Radio {
    private let link: Port100Link
    private var toldRadio: [UInt8]?
    private var toldProtocol: [UInt8: UInt8]?
    private var seenResets = 0

    init(_ link: Port100Link) {
        self.link = link
    }

    /// Sends a frame and returns the answer.
    ///
    /// - Parameter time: the longest time that the card may take; more than 6.5 s count as that.
    func exchange(
        _ frame: [UInt8], as setting: Port100Setting, within time: Duration
    ) throws(TransportError) -> Port100Answer {
        try tell(setting)
        let tenths = Port100Time.tenths(time)
        var parameters = ByteWriter()
        parameters.write(tenths, .little)
        let answer = try link.run(.inCommRF, parameters.bytes + frame, within: Port100Time.duration(tenths))
        var reader = ByteReader(answer)
        guard let status = try? reader.readUInt32(.little) else { throw .corrupted(status: 0) }
        if let error = Port100RadioStatus(rawValue: status).error { throw error }
        guard let bits = try? reader.readUInt8(), (1...8).contains(bits), answer.count > 5 else {
            throw .corrupted(status: 0)
        }
        return Port100Answer(lastByteBits: Int(bits), bytes: Array(answer.dropFirst(5)))
    }

    /// Switches the field off: cards lose their power. Telling the modulation anew switches it on again.
    func switchOff() throws(TransportError) {
        forget()
        try succeed(.switchRF, [0x00])
    }

    private func tell(_ setting: Port100Setting) throws(TransportError) {
        if seenResets != link.resets { forget() }
        if toldRadio != setting.radio {
            forget()
            try succeed(.inSetRF, setting.radio)
            toldRadio = setting.radio
        }
        let parameters = setting.protocolParameters(after: toldProtocol)
        guard !parameters.isEmpty else { return }
        toldProtocol = nil
        try succeed(.inSetProtocol, parameters)
        toldProtocol = setting.protocolValues
    }

    private func forget() {
        seenResets = link.resets
        toldRadio = nil
        toldProtocol = nil
    }

    private func succeed(_ command: Port100Command, _ parameters: [UInt8]) throws(TransportError) {
        let answer = try link.run(command, parameters)
        guard answer.first == 0x00 else {
            throw .readerFailed(detail: "the reader refuses a setting (status \(Hex.encode(answer.prefix(1))))")
        }
    }
}
