// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore

/// A reader with one Type 2 Tag, written by hand from the data sheets; what goes wrong is planned by the number of the
/// exchange, counted from 1.
final class FakeType2Reader: Reader {
    /// What happens at one exchange.
    enum InjectedFault {
        /// The tag does what it is told, and its answer is damaged.
        case damaged
        /// The tag hears nothing.
        case deaf
        /// The tag has left for good.
        case gone
        /// Another tag lies there from now on.
        case swapped
        /// The answer is this.
        case answer([UInt8])
        /// The reader fails.
        case broken
    }

    let information = ReaderInformation(id: "fake", name: "fake", technologies: [.typeA])
    var pages: [[UInt8]]
    /// The answer to GET_VERSION; `nil` for a NAK, empty for silence.
    var version: [UInt8]?
    var isUltralightC = false
    var knowsFastRead = true
    var signature: [UInt8]?
    var counters: [UInt8: UInt32] = [:]
    /// Pages from here on answer with NAK.
    var closedFrom = Int.max
    var locked: Set<Int> = []
    var troubles: [Int: InjectedFault] = [:]
    /// Every frame, in order.
    private(set) var frames: [[UInt8]] = []
    private(set) var activations = 0
    private var isActive = true
    private var isGone = false
    private var uid: [UInt8]
    /// Whether the next frame is the second part of SECTOR_SELECT.
    private var waitsForSector = false
    var sectors = 1
    private var sector = 0

    init(_ pages: [[UInt8]], version: [UInt8]? = nil) {
        self.pages = pages
        self.version = version
        uid = Array(pages[0].prefix(3)) + pages[1]
    }

    var target: TypeATarget { TypeATarget(uid: uid, atqa: 0x0044, sak: 0, isISODEP: false) }

    /// The WRITE commands that came.
    var writes: [[UInt8]] { frames.filter { $0.first == 0xA2 } }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        activations += 1
        sector = 0
        waitsForSector = false
        guard !isGone, request.technology == .typeA else { return nil }
        isActive = true
        return .typeA(target)
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        frames.append(frame)
        switch troubles[frames.count] {
        case nil: break
        case .deaf: throw .noAnswer
        case .gone: isGone = true
        case .swapped: uid[6] ^= 0xFF
        case .answer(let bytes): return bytes
        case .broken: throw .readerTimeout
        case .damaged:
            _ = answer(frame)
            throw .corrupted(status: 2)
        }
        guard !isGone, isActive, let answer = answer(frame) else { throw .noAnswer }
        return answer
    }

    func close() {}

    private func answer(_ frame: [UInt8]) -> [UInt8]? {
        if waitsForSector {
            waitsForSector = false
            guard Int(frame[0]) < sectors else { return nak(0) }
            sector = Int(frame[0])
            return nil
        }
        switch (frame[0], frame.count) {
        case (0x30, 2): return read(sector * 256 + Int(frame[1]))
        case (0x3A, 3) where knowsFastRead && version?.isEmpty == false:
            guard frame[1] <= frame[2], Int(frame[2]) < min(pages.count, closedFrom) else { return nak(0) }
            return pages[Int(frame[1])...Int(frame[2])].flatMap { $0 }
        case (0xA2, 6): return write(sector * 256 + Int(frame[1]), Array(frame[2...]))
        case (0x60, 1):
            guard let version else { return nak(0) }
            if version.isEmpty { isActive = false }
            return version.isEmpty ? nil : version
        case (0x1A, 2) where isUltralightC: return [0xAF, 1, 2, 3, 4, 5, 6, 7, 8]
        case (0x3C, 2): return signature ?? nak(0)
        case (0x39, 2):
            guard let count = counters[frame[1]] else { return nak(0) }
            return [UInt8(count & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count >> 16)]
        case (0xC2, 2) where sectors > 1:
            waitsForSector = true
            return [0x0A]
        default: return nak(0)
        }
    }

    private func nak(_ code: UInt8) -> [UInt8] {
        isActive = false
        return [code]
    }

    private func read(_ page: Int) -> [UInt8] {
        guard page < min(pages.count, closedFrom) else { return nak(0) }
        return (0..<4).flatMap { pages[(page + $0) % pages.count] }
    }

    private func write(_ page: Int, _ bytes: [UInt8]) -> [UInt8] {
        guard page < min(pages.count, closedFrom), page > 1, !locked.contains(page) else { return nak(0) }
        pages[page] = bytes
        return [0x0A]
    }
}
