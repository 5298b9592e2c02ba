// SPDX-License-Identifier: Apache-2.0

internal import ISODEP
internal import NFCTransport

/// Cards of type A and B: the chip carries their frames, and everything else is done in software.
extension Port100Radio: RawFrameChannel {
    /// nfcpy's figure; an ISO-DEP frame has 256 bytes at most.
    var longestRawFrame: Int { Port100Reader.longestFrame }

    /// How long the field is off; ISO 14443-3 asks for 5 ms.
    private static let fieldOffTime = Duration.milliseconds(10)

    func exchange(_ frame: RawFrame, timeout: Duration) throws(TransportError) -> RawAnswer {
        let answer = try exchange(frame.bytes, as: .iso14443(frame), within: timeout)
        return RawAnswer(answer.bytes, lastByteBits: answer.lastByteBits)
    }

    func resetField() throws(TransportError) {
        try switchOff()
        try wait(Self.fieldOffTime)
    }
}
