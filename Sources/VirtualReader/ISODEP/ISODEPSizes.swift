// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// The numbers that ISO 14443-4 codes by an index.
enum ISODEPSizes {
    private static let frames = [16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096]

    /// The bytes of the longest frame with its CRC, from FSCI or FSDI; indexes that are not assigned count as the
    /// highest that is.
    static func frame(_ index: UInt8) -> Int {
        frames.element(at: Int(min(index, 12))) ?? 4096
    }

    /// The highest index whose frame is not longer than this.
    static func index(ofFrame bytes: Int) -> UInt8 {
        UInt8(clamping: frames.lastIndex { $0 <= bytes } ?? 0)
    }

    /// FWT, how long a card may think: 4096 cycles of the carrier doubled FWI times; 15 counts as 4.
    static func waitingTime(_ index: UInt8) -> Duration {
        .nanoseconds(302_065 << Int64(index > 14 ? 4 : index))
    }
}
