// SPDX-License-Identifier: Apache-2.0

/// The longest frames that reader (FSD) and card (FSC) take, as ISO 14443-3 and -4 code them (FSDI, FSCI).
public struct FrameSize: Hashable, Sendable {
    /// The sizes in bytes, PCB and CRC included, by their code.
    private static let sizes = [16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096]

    /// The code.
    public let code: UInt8
    /// The bytes, PCB and CRC included.
    public let bytes: Int

    /// What a code means. Codes above C are reserved and stand for the largest size.
    public init(code: UInt8) {
        let known = min(Int(code), Self.sizes.count - 1)
        self.code = UInt8(truncatingIfNeeded: known)
        bytes = Self.sizes[known]
    }

    /// The largest size that fits in this many bytes; never less than the smallest, 16.
    public init(fitting bytes: Int) {
        let code = Self.sizes.lastIndex { $0 <= bytes } ?? 0
        self.init(code: UInt8(truncatingIfNeeded: code))
    }
}
