// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// One block of ISO 14443-4 without its CRC.
struct ISODEPBlock: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Data; `isChained` when more follows.
        case information(isChained: Bool)
        case acknowledge
        case notAcknowledge
        case deselect
        case waitingTimeExtension
    }

    var kind: Kind
    /// The block number, 0 or 1; not in S-blocks.
    var number: UInt8 = 0
    /// The card's number, when the block carries one.
    var cid: UInt8?
    /// The node address, when the block carries one.
    var nad: UInt8?
    /// What follows: data, or WTXM of an S(WTX).
    var data: [UInt8] = []

    /// The bits of a PCB.
    private static let cidFollows: UInt8 = 0x08
    private static let nadFollows: UInt8 = 0x04

    init(_ kind: Kind, number: UInt8 = 0, cid: UInt8? = nil, nad: UInt8? = nil, data: [UInt8] = []) {
        self.kind = kind
        self.number = number
        self.cid = cid
        self.nad = nad
        self.data = data
    }

    /// Reads a block; `nil` when it is none.
    init?(_ frame: [UInt8]) {
        guard let control = frame.first else { return nil }
        var hasNAD = false
        switch control {
        case _ where control & 0xE2 == 0x02:
            kind = .information(isChained: control & 0x10 != 0)
            hasNAD = control & ISODEPBlock.nadFollows != 0
        case _ where control & 0xE6 == 0xA2: kind = control & 0x10 == 0 ? .acknowledge : .notAcknowledge
        case _ where control & 0xF7 == 0xC2: kind = .deselect
        case _ where control & 0xF7 == 0xF2: kind = .waitingTimeExtension
        default: return nil
        }
        var reader = ByteReader(frame.dropFirst())
        do throws(ByteCodecError) {
            if control & ISODEPBlock.cidFollows != 0 { cid = try reader.readUInt8() & 0x0F }
            if hasNAD { nad = try reader.readUInt8() }
        } catch {
            return nil
        }
        number = control & 0xC0 == 0xC0 ? 0 : control & 0x01
        data = Array(reader.readRest())
        switch kind {
        case .information: break
        case .acknowledge, .notAcknowledge, .deselect: guard data.isEmpty else { return nil }
        case .waitingTimeExtension: guard data.count == 1 else { return nil }
        }
    }

    /// The block as it goes through the air, before its CRC.
    var bytes: [UInt8] {
        var control: UInt8
        switch kind {
        case .information(let isChained): control = 0x02 | (isChained ? 0x10 : 0) | number & 0x01
        case .acknowledge: control = 0xA2 | number & 0x01
        case .notAcknowledge: control = 0xB2 | number & 0x01
        case .deselect: control = 0xC2
        case .waitingTimeExtension: control = 0xF2
        }
        if cid != nil { control |= ISODEPBlock.cidFollows }
        if nad != nil { control |= ISODEPBlock.nadFollows }
        return [control] + [cid, nad].compactMap { $0 } + data
    }
}
