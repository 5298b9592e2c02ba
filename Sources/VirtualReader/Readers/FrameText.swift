// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import NFCTransport

/// Says in an error message what was asked, without the personal data in it.
enum FrameText {
    static func of(_ event: TranscriptEntry.Event) -> String {
        switch event {
        case .activate(let request, _): of(request)
        case .transceive(let frame, _, _): of(frame)
        }
    }

    static func of(_ request: ActivationRequest) -> String {
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            "activate \(system) (request code \(requestCode), time slots \(timeSlots), \(bitRate.rawValue) kbit/s)"
        case .typeA(let isoDEP): isoDEP ? "activate type A" : "activate type A without ISO-DEP"
        case .typeB(let family): "activate type B (application family \(family))"
        }
    }

    /// FeliCa packets without the IDm; of other frames only the first four bytes, since a PIN may follow.
    static func of(_ frame: [UInt8]) -> String {
        guard let length = frame.element(at: 0), Int(length) == frame.count, let code = frame.element(at: 1) else {
            return "transceive \(Hex.encode(frame.prefix(4)))… (\(frame.count) bytes)"
        }
        guard frame.count >= 10, CommandCode(rawValue: code)?.carriesIDm != false else {
            return "transceive \(Hex.encode(frame))"
        }
        let parameters = frame.count > 10 ? " \(Hex.encode(frame.dropFirst(10)))" : ""
        return "transceive \(Hex.encode(frame.prefix(2))) <IDm>\(parameters)"
    }
}
