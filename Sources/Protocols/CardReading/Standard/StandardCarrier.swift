// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa
internal import ReaderCore

/// Reads and writes blocks over an open session, and opens it again when an answer is lost.
final class StandardCarrier: WritingCarrier {
    let limits: CardLimits
    private let reading: StandardReading
    private let access: StandardAccess
    private var open: StandardSession?

    private static let tries = 3

    init(_ reading: StandardReading, _ session: CardSession, _ open: StandardSession) {
        (self.reading, self.access, self.open) = (reading, open.access, open)
        let most = open.access.scheme.blocksPerRead(answeredIn: session.reader.information.longestFeliCaAnswer)
        limits = CardLimits(atMost: most, like: session.limits)
    }

    var opened: StandardScheme? { access.scheme }

    func index(of service: ServiceCode) -> Int { access.nodes.firstIndex(of: service.node) ?? 0 }

    func check(_ write: BlockWrite) throws(BlockWriteError) {
        try check(write, length: access.scheme.writeLength, most: 13)
    }

    func write(_ list: BlockList, _ data: [Block]) throws(ReadingError) -> WriteReply {
        while true {
            guard var current = open else {
                guard case .session(let again) = try reading.open(access) else { throw .cardLost }
                open = again
                continue
            }
            open = nil
            do throws(StandardError) {
                try current.write(list, data)
                open = current
                return .done
            } catch {
                switch error {
                case .command(.status(let flags)):
                    open = current
                    return .refused(flags)
                // Nothing was sent.
                case .exhausted: continue
                case .command(.invalidArgument), .crypto: throw .cardSilent
                default: return .lost
                }
            }
        }
    }

    func read(_ services: [ServiceCode], _ list: BlockList) throws(ReadingError) -> CardReply<[Block]> {
        let elements = list.elements.map { element in
            var element = element
            element.serviceIndex = index(of: services[element.serviceIndex])
            return element
        }
        var damaged = 0
        var silent = 0
        while true {
            guard var current = open else {
                // What opened it before opens it again, unless the card left.
                guard case .session(let again) = try reading.open(access) else { throw .cardLost }
                open = again
                continue
            }
            do throws(StandardError) {
                let blocks = try current.read(BlockList(elements))
                open = current
                return .value(blocks)
            } catch {
                open = nil
                switch error {
                case .command(.status(let flags)):
                    open = current
                    return .refused(flags)
                case .silence:
                    silent += 1
                    if silent == Self.tries { return .silent }
                case .exhausted: continue
                default:
                    damaged += 1
                    if let failure = StandardReading.final(error, damaged) { throw failure }
                }
            }
        }
    }
}

/// The frames of a session, counted like all others.
struct SessionChannel: CardChannel {
    let session: CardSession
    /// Whether the card gets twice the time of its PMm, and at least 10 ms more.
    let isPatient: Bool

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try session.exchange(frame, timeout: isPatient ? timeout + max(timeout, .milliseconds(10)) : timeout)
    }
}
