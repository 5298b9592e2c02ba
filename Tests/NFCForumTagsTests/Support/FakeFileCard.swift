// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore

/// A reader with an ISO 7816 card that holds the NDEF application, written by hand from the standard.
final class FakeFileCard: Reader {
    let information = ReaderInformation(id: "fake", name: "fake", technologies: [.typeA])
    var application: [UInt8] = [0xD2, 0x76, 0, 0, 0x85, 1, 1]
    /// The status word of a SELECT with Le; `nil` if Le is accepted.
    var statusWithLe: [UInt8]?
    var files: [UInt16: [UInt8]]
    /// What is answered at an exchange, counted from 1, in place of what the card would say; `nil` for silence.
    var answers: [Int: [UInt8]?] = [:]
    /// From this exchange on the card is away.
    var goneFrom = Int.max
    private(set) var frames: [[UInt8]] = []
    private var selected: UInt16?
    private var hasApplication = false

    static let picc = PICC.typeA(TypeATarget(uid: [8, 1, 2, 3], sak: 0x20, isISODEP: true))

    init(capability: [UInt8], ndef: [UInt8], size: Int) {
        files = [0xE103: capability, 0xE104: ndef + [UInt8](repeating: 0, count: max(0, size - ndef.count))]
    }

    /// What was written, as commands.
    var updates: [[UInt8]] { frames.filter { $0.count > 1 && $0[1] == 0xD6 } }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        (selected, hasApplication) = (nil, false)
        return frames.count >= goneFrom ? nil : Self.picc
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        frames.append(frame)
        guard frames.count < goneFrom else { throw .noAnswer }
        if let answer = answers[frames.count] {
            guard let answer else { throw .noAnswer }
            return answer
        }
        if let statusWithLe, frame[1] == 0xA4, frame.count > 5 + Int(frame[4]) { return statusWithLe }
        switch (frame[1], frame[2], frame[3]) {
        case (0xA4, 4, 0):
            hasApplication = Array(frame[5..<5 + Int(frame[4])]) == application
            return hasApplication ? [0x90, 0] : [0x6A, 0x82]
        case (0xA4, 0, _) where hasApplication:
            let id = UInt16(frame[5]) << 8 | UInt16(frame[6])
            guard files[id] != nil, frame[3] == (application.last == 1 ? 0x0C : 0) else { return [0x6A, 0x82] }
            selected = id
            return [0x90, 0]
        case (0xB0, let high, let low):
            guard let id = selected, let file = files[id] else { return [0x69, 0x86] }
            let offset = Int(high) << 8 | Int(low)
            guard offset < file.count else { return [0x6B, 0] }
            let count = frame[4] == 0 ? 256 : Int(frame[4])
            return Array(file[offset..<min(file.count, offset + count)]) + [0x90, 0]
        case (0xD6, let high, let low):
            guard let id = selected, var file = files[id] else { return [0x69, 0x86] }
            let (offset, data) = (Int(high) << 8 | Int(low), frame[5...])
            guard offset + data.count <= file.count else { return [0x6A, 0x84] }
            file.replaceSubrange(offset..<offset + data.count, with: data)
            files[id] = file
            return [0x90, 0]
        default: return [0x6D, 0]
        }
    }

    func close() {}
}
