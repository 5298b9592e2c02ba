// SPDX-License-Identifier: Apache-2.0

import ISODEP
import ReaderCore
import VirtualReader

/// A chip that carries single frames into a virtual field.
final class FieldChip: RawFrameChannel {
    let longestRawFrame: Int
    let field: VirtualField
    private(set) var fieldResets = 0

    init(_ field: VirtualField, longestRawFrame: Int = 256) {
        self.field = field
        self.longestRawFrame = longestRawFrame
    }

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        let isTypeA = frame.modulation == .typeA
        let air = RadioFrame(
            isTypeA ? .typeA : .typeB, frame.bytes, lastByteBits: frame.lastByteBits, hasCRC: frame.addsCRC)
        switch field.exchange(air) {
        case .silence: throw .noAnswer
        case .damaged(let status): throw .corrupted(status: status)
        case .answer(let answer):
            guard frame.checksCRC else {
                let crc = answer.hasCRC ? (isTypeA ? Checksum.a : .b).bytes(of: answer.frame) : []
                return RawAnswer(answer.frame + crc, lastByteBits: answer.lastByteBits)
            }
            guard answer.hasCRC else { throw .corrupted(status: 0x02) }
            return RawAnswer(answer.frame)
        }
    }

    func resetField() throws(TransportError) {
        fieldResets += 1
        field.switchOff()
    }
}
