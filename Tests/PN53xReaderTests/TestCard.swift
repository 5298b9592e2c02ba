// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// A card that answers Polling, Request Response, Request System Code and Echo, and nothing else.
final class TestCard: VirtualPacketCard {
    static let idm: [UInt8] = [0x01, 0x01, 0x03, 0x12, 0x34, 0x56, 0x78, 0x90]
    static let pmm: [UInt8] = [0x01, 0x20, 0x22, 0x04, 0x27, 0x67, 0x4E, 0xFF]

    /// The frames of the tests, with their LEN byte.
    static let requestSystemCode = [0x0A, 0x0C] + idm
    static let systemCodes = [0x0D, 0x0D] + idm + [0x01, 0x00, 0x03]
    static let requestResponse = [0x0A, 0x04] + idm
    static let mode = [0x0B, 0x05] + idm + [0x00]

    private let bitRates: [FeliCaBitRate]

    init(bitRates: [FeliCaBitRate] = [.kbps212, .kbps424]) {
        self.bitRates = bitRates
    }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        guard bitRates.contains(bitRate), let length = frame.first, Int(length) == frame.count else { return nil }
        switch frame.dropFirst().first {
        case 0x00 where frame.count == 6: return poll(frame)
        case 0x04 where frame == Self.requestResponse: return CardAnswer(Self.mode)
        case 0x0C where frame == Self.requestSystemCode: return CardAnswer(Self.systemCodes)
        case 0xF0: return CardAnswer([length, 0xF1] + frame.dropFirst(2))
        default: return nil
        }
    }

    func losePower() {}

    private func poll(_ frame: [UInt8]) -> CardAnswer? {
        let matches = zip(frame[2...3], [0x00, 0x03] as [UInt8]).allSatisfy { $0 == 0xFF || $0 == $1 }
        guard matches else { return nil }
        let requestData: [UInt8] = frame[4] == 0x01 ? [0x00, 0x03] : []
        return CardAnswer([0x12 + UInt8(requestData.count), 0x01] + Self.idm + Self.pmm + requestData)
    }
}

/// A card that answers everything with the same bytes.
final class StubbornCard: VirtualPacketCard {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    func answer(_ frame: [UInt8], at bitRate: FeliCaBitRate) -> CardAnswer? {
        frame.dropFirst().first == 0x00 ? TestCard().answer(frame, at: bitRate) : CardAnswer(bytes)
    }

    func losePower() {}
}
