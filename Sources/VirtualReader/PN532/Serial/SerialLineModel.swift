// SPDX-License-Identifier: Apache-2.0

/// What lies between a simulated chip and its host.
///
/// When the two ends run at different speeds each samples the other's bits at the wrong moments, so what arrives is
/// made of the same bits and means nothing. A line with a limit behaves as if the sender ran at that limit.
public struct SerialLineModel: Hashable, Sendable {
    /// A line that carries every speed, between ends that must agree on it.
    public static let plain = SerialLineModel()

    /// Whether the ends must run at the same speed; without it every speed is understood.
    public var needsSameSpeed: Bool
    /// The highest speed towards the chip, in bits a second; `nil` for no limit.
    public var fastestToChip: Int?
    /// The highest speed towards the host, in bits a second; `nil` for no limit.
    public var fastestToHost: Int?

    /// A line with these limits.
    public init(needsSameSpeed: Bool = true, fastestToChip: Int? = nil, fastestToHost: Int? = nil) {
        self.needsSameSpeed = needsSameSpeed
        self.fastestToChip = fastestToChip
        self.fastestToHost = fastestToHost
    }

    /// What the chip makes of the host's bytes.
    func atChip(_ bytes: [UInt8], host: SerialSpeed?, chip: SerialSpeed) -> [UInt8] {
        arriving(bytes, from: host ?? chip, limit: fastestToChip, to: chip)
    }

    /// What the host makes of the chip's bytes.
    func atHost(_ bytes: [UInt8], host: SerialSpeed?, chip: SerialSpeed) -> [UInt8] {
        arriving(bytes, from: chip, limit: fastestToHost, to: host ?? chip)
    }

    private func arriving(_ bytes: [UInt8], from: SerialSpeed, limit: Int?, to: SerialSpeed) -> [UInt8] {
        guard needsSameSpeed else { return bytes }
        let sent = min(Int(from.bitsPerSecond), max(limit ?? .max, 1))
        return SerialSampling.received(bytes, sentAt: sent, sampledAt: Int(to.bitsPerSecond))
    }
}
