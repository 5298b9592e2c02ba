// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// FeliCa's Polling, for readers that send it themselves: the one command that a reader must know to find a card.
///
/// Source: nfcpy's `tt3.py` and `rcs380.py`; times from the JIS X 6319-4 summary of felica-rs.
public struct FeliCaPolling: Hashable, Sendable {
    private let system: SystemCode
    private let requestCode: UInt8
    private let timeSlots: UInt8

    /// Makes a Polling for one system.
    ///
    /// - Parameters:
    ///   - requestCode: 0 for nothing more, 1 for the system code, 2 for the communication performance.
    ///   - timeSlots: 0, 1, 3, 7 or 15: the number of slots after the first.
    public init(_ system: SystemCode, requestCode: UInt8 = 0, timeSlots: UInt8 = 0) {
        self.system = system
        self.requestCode = requestCode
        self.timeSlots = timeSlots
    }

    /// The packet with its LEN byte: `06 00`, the system code big-endian, request code, time slots.
    public var frame: [UInt8] {
        var writer = ByteWriter([0x06, 0x00])
        writer.write(system.rawValue, .big)
        writer.write(requestCode)
        writer.write(timeSlots)
        return writer.bytes
    }

    /// The time until the end of the last time slot, at least the 10 ms that nfcpy waits.
    ///
    /// It is 2.417 ms after the packet plus 1.208 ms per slot, and 3 ms for the reader.
    public var longestAnswerTime: Duration {
        let microseconds: Int = 2417 + 1208 * (Int(timeSlots) + 1) + 3000
        return max(.milliseconds(10), .microseconds(microseconds))
    }

    /// Looks once for a card.
    ///
    /// - Parameter exchange: sends the packet and returns the answer; receives the longest time that a card may take.
    /// - Returns: `nil` if no card answered.
    /// - Throws: ``TransportError/heard(_:)`` if the answer was damaged in the air: a card is entering the field, or two
    ///   answered at the same time; or if a card of generation 0 sent it, without an IDm. Callers
    ///   that search for a card look again. Whatever else `exchange` throws;
    ///   ``TransportError/corrupted(status:)`` with status 0 for an answer that is not one to a Polling, or was damaged
    ///   between reader and computer.
    public func look(
        at bitRate: FeliCaBitRate, by exchange: ([UInt8], Duration) throws(TransportError) -> [UInt8]
    ) throws(TransportError) -> FeliCaTarget? {
        do throws(TransportError) {
            let answer = try exchange(frame, longestAnswerTime)
            if Self.isOfGeneration0(answer) { throw .heard(.unstarted(.felica)) }
            return try target(from: answer, bitRate: bitRate)
        } catch {
            switch error {
            case .noAnswer: return nil
            case .corrupted(let status) where status != 0: throw .heard(.damaged(.felica))
            default: throw error
            }
        }
    }

    /// Whether this is a whole packet with an even code, such as `06 00 00 00 07 07` of a SEAC card (proxmark3 pull request
    /// 3117). The codes of all other answers are odd.
    private static func isOfGeneration0(_ answer: [UInt8]) -> Bool {
        guard let length = answer.first, Int(length) == answer.count, let code = answer.element(at: 1) else {
            return false
        }
        return code.isMultiple(of: 2)
    }

    /// Reads an answer: `12 01 IDm PMm`, or LEN 14 with two bytes of request data.
    ///
    /// - Throws: ``TransportError/corrupted(status:)`` with status 0 if it is not an answer to a Polling.
    public func target(
        from answer: some Collection<UInt8>, bitRate: FeliCaBitRate
    ) throws(TransportError) -> FeliCaTarget {
        var reader = ByteReader(Array(answer))
        guard let length = try? reader.readUInt8(), length == 0x12 || length == 0x14,
            (try? reader.readUInt8()) == 0x01, let idm = try? reader.readUInt64(.big),
            let pmm = try? reader.readUInt64(.big)
        else { throw .corrupted(status: 0) }
        var requestData: UInt16?
        if length == 0x14 {
            guard let data = try? reader.readUInt16(.big) else { throw .corrupted(status: 0) }
            requestData = data
        }
        return FeliCaTarget(
            idm: IDm(rawValue: idm), pmm: PMm(rawValue: pmm), requestData: requestData, bitRate: bitRate)
    }
}

/// A FeliCa bit rate; the raw value is in kilobits per second.
@nonexhaustive
public enum FeliCaBitRate: Int, Hashable, Sendable, CaseIterable {
    /// 211.875 kbit/s (fc/64), supported by every card.
    case kbps212 = 212
    /// 423.75 kbit/s (fc/32), supported by many cards, but not by Octopus-type cards.
    case kbps424 = 424
}
