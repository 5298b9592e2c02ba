// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec

/// One block of ISO 14443-4 without its CRC.
package struct ISODEPBlock: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Data; `isChained` when more follows.
        case information(isChained: Bool)
        case acknowledge
        case notAcknowledge
        case deselect
        case waitingTimeExtension
    }

    package var kind: Kind
    /// The block number, 0 or 1; not in S-blocks.
    package var number: UInt8 = 0
    /// The card identifier, when the block carries one.
    package var cid: UInt8?
    /// The node address, when the block carries one.
    var nad: UInt8?
    /// The content: data, or WTXM of an S(WTX).
    package var data: [UInt8] = []

    /// The bits of a PCB.
    private static let cidFollows: UInt8 = 0x08
    private static let nadFollows: UInt8 = 0x04

    package init(_ kind: Kind, number: UInt8 = 0, cid: UInt8? = nil, nad: UInt8? = nil, data: [UInt8] = []) {
        self.kind = kind
        self.number = number
        self.cid = cid
        self.nad = nad
        self.data = data
    }

    /// Parses a block; `nil` when it is not valid.
    package init?(_ frame: [UInt8]) {
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

    /// The block as sent through the air, before its CRC.
    package var bytes: [UInt8] {
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

/// How a virtual card that supports ISO 14443-4 is selected.
package enum ISODEPInterface: Hashable, Sendable {
    /// By type A, with this ATS (length byte included); the SAK gets its bit for ISO 14443-4 (20).
    case typeA(TypeAIdentity, ats: [UInt8] = ISODEPInterface.plainATS)
    case typeB(TypeBIdentity)

    /// The ATS of a card without special features: 256 bytes, 106 kbit/s, FWI 8, CID, no historical bytes.
    package static let plainATS: [UInt8] = [0x05, 0x78, 0x00, 0x81, 0x02]
}

/// The behavior of a virtual card below its APDUs.
package struct ISODEPOptions: Hashable, Sendable {
    /// The number of waiting time extensions that the card requests before each answer; `Int.max` never ends.
    package var waitingTimeExtensions = 0
    /// WTXM, the factor on the waiting time each time, 1 to 59.
    package var waitingTimeMultiplier: UInt8 = 1
    /// The card's response time before each answer; it is waited for only in the time model.
    package var answerTime: Duration = .zero
    /// How RATS is answered.
    package var requestAnswer = RequestAnswer.ats
    /// The bits of the power level in a request for more time (C0 at most); a reader that sends them back is not answered.
    var powerLevel: UInt8 = 0
    /// How the card takes a change of the bit rate.
    var fasterRates = FasterRates.taken
    /// Whether DESELECT and R(NAK) are answered.
    var (answersDeselect, answersNAK) = (true, true)
    /// What precedes and follows the CID in the answer to ATTRIB: the buffer size index in the high nibble, and data.
    var (bufferSize, attributeData): (UInt8, [UInt8]) = (0, [])

    /// The answers to RATS; after any but an ATS the card falls back, as after a command that it does not know.
    package enum RequestAnswer: Hashable, Sendable {
        case ats, refusal, silence
    }

    /// What becomes of a bit rate that the card says it supports.
    package enum FasterRates: Hashable, Sendable {
        case taken
        /// PPS is not answered, as by phones (libfreefare#110).
        case ignored
        /// PPS is answered, and nothing that comes at the new speed.
        case unheard
        /// Answers of more than 16 bytes arrive damaged at the new speed.
        case damaged
    }

    package init() {}
}

/// The capabilities that the two sides of ISO 14443-4 exchanged.
package struct ISODEPParameters: Hashable, Sendable {
    /// The longest frame that the card accepts, in bytes with its CRC.
    package var cardFrame: Int
    /// FWI.
    package var waitingTimeIndex: UInt8 = 4
    /// Whether the card supports a CID.
    package var supportsCID: Bool
    /// Whether the card supports a NAD.
    var supportsNAD = false
    /// The bit rates that it supports.
    var bitRates = SupportedBitRates(code: 0)

    package init(_ identity: TypeBIdentity) {
        cardFrame = ISODEPSizes.frame(identity.frameSizeIndex)
        waitingTimeIndex = identity.waitingTimeIndex
        supportsCID = identity.supportsCID
        supportsNAD = identity.supportsNAD
        bitRates = SupportedBitRates(code: identity.protocolInfo.first ?? 0)
    }

    /// Creates the parameters of an ATS; missing ones have the standard's default values.
    package init(ats: [UInt8]) {
        cardFrame = ISODEPSizes.frame(2)
        supportsCID = true
        var reader = ByteReader(ats)
        _ = try? reader.readUInt8()
        guard let format = try? reader.readUInt8() else { return }
        cardFrame = ISODEPSizes.frame(format & 0x0F)
        if format & 0x10 != 0, let rates = try? reader.readUInt8() { bitRates = SupportedBitRates(code: rates) }
        if format & 0x20 != 0, let times = try? reader.readUInt8() { waitingTimeIndex = times >> 4 }
        guard format & 0x40 != 0, let flags = try? reader.readUInt8() else { return }
        supportsCID = flags & 0x02 != 0
        supportsNAD = flags & 0x01 != 0
    }
}

/// The numbers that ISO 14443-4 codes by an index.
package enum ISODEPSizes {
    private static let frames = [16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048, 4096]

    /// The longest frame in bytes with its CRC, from FSCI or FSDI. Unassigned indexes count as the highest assigned
    /// one.
    package static func frame(_ index: UInt8) -> Int {
        frames.element(at: Int(min(index, 12))) ?? 4096
    }

    /// FWT, the maximum response time of a card: 4096 cycles of the carrier doubled FWI times; 15 counts as 4.
    package static func waitingTime(_ index: UInt8) -> Duration {
        .nanoseconds(302_065 << Int64(index > 14 ? 4 : index))
    }
}
