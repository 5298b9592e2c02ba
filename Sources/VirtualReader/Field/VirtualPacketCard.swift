// SPDX-License-Identifier: Apache-2.0

public import NFCTransport

/// A virtual card that speaks FeliCa and nothing else.
public protocol VirtualPacketCard: VirtualCard {
    /// What the card does with a packet that arrives at this speed; `nil` when it keeps silent.
    ///
    /// - Parameter frame: a whole FeliCa packet with its LEN byte. It may be anything: cards never trap.
    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer?
}

extension VirtualPacketCard {
    /// Silence for everything but FeliCa with its checksum.
    public func answer(_ frame: RadioFrame) -> CardAnswer? {
        guard case .felica(let bitRate) = frame.technology, frame.hasCRC else { return nil }
        return answer(frame.bytes, at: bitRate)
    }
}
