// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// An answer to reset (ISO/IEC 7816-3 §8.2): what a contact card says first, and what PC/SC makes of a contactless one.
public struct ATR: Hashable, Sendable {
    /// All bytes as they came.
    public let bytes: [UInt8]
    /// The interface bytes TA1, TB1, … as they follow each other, without T0 and the historical bytes.
    public let interfaceBytes: [UInt8]
    /// The protocols that the bytes TD name, in their order; T=0 when there is none.
    public let protocols: [UInt8]
    /// The historical bytes.
    public let historicalBytes: HistoricalBytes
    /// The check byte TCK; `nil` when there is none.
    public let tck: UInt8?

    /// Whether TCK is there where it has to be, and right.
    public var isChecksumRight: Bool {
        guard tck != nil else { return protocols.allSatisfy { $0 == 0 } }
        return bytes.dropFirst().reduce(0) { $0 ^ $1 } == 0
    }

    /// Reads an ATR, or `nil` when it is cut short, has bytes too many or does not begin with 3B or 3F. A wrong check
    /// byte is no hindrance.
    public init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        var reader = ByteReader(bytes)
        do throws(ByteCodecError) {
            let direction = try reader.readUInt8()
            guard direction == 0x3B || direction == 0x3F else { return nil }
            let format = try reader.readUInt8()
            var interface: [UInt8] = []
            var protocols: [UInt8] = []
            var indicator = format >> 4
            // At most 32 bytes after the first: more are no ATR, and there is no loop without end.
            while indicator != 0, bytes.count <= 33 {
                for _ in 0..<(indicator & 0x07).nonzeroBitCount { interface.append(try reader.readUInt8()) }
                guard indicator & 0x08 != 0 else { break }
                let next = try reader.readUInt8()
                interface.append(next)
                protocols.append(next & 0x0F)
                indicator = next >> 4
            }
            historicalBytes = HistoricalBytes(try reader.readBytes(Int(format & 0x0F)))
            self.protocols = protocols.isEmpty ? [0] : protocols
            interfaceBytes = interface
            tck = reader.remaining > 0 ? try reader.readUInt8() : nil
            try reader.expectEnd()
        } catch {
            return nil
        }
        self.bytes = bytes
    }
}
