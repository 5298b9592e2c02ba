// SPDX-License-Identifier: Apache-2.0

import CardModel

/// Follows the SELECT commands of a trace, so that it is known which file a READ BINARY reads.
struct APDUTrail {
    private var application: AID?
    private var file: FileIdentifier?

    /// Whether the answer to this frame is of a file that tells whose card it is.
    mutating func isPersonal(_ frame: [UInt8]) -> Bool {
        guard frame.count >= 4, frame[0] == 0x00 else { return false }
        switch (frame[1], frame[2]) {
        case (0xA4, 0x04):
            (application, file) = (AID(frame.dropFirst(5).prefix(Int(frame.count > 4 ? frame[4] : 0))), nil)
        case (0xA4, 0x02) where frame.count >= 7:
            file = FileIdentifier(rawValue: UInt16(frame[5]) << 8 | UInt16(frame[6]))
        case (0xA4, _): (application, file) = (nil, nil)
        case (0xB0, _), (0xB1, _), (0xB2, _), (0xC0, _):
            // Where it is not known which file is current, one of the application is taken for personal.
            return file.map { PersonalFiles.contains(application, $0) } ?? (application != nil)
        default: break
        }
        return false
    }

    /// An answer with every byte of its data 0; its status word stays.
    static func withoutData(_ answer: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, answer.count - 2)) + answer.suffix(2)
    }
}
