// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import ReaderCore
internal import VirtualCards
internal import VirtualChips

/// What a transcript contains about the systems and nodes of cards, whatever the order in which it was asked for.
///
/// A question that changes nothing on the card has the same answer at any time. An answer that was not recorded is given
/// only if it follows from those that were: the key versions of nodes from several Request Service commands, and, once the
/// answers prove a system's list (`Docs/proved-scan.md`), the node at each index and the absence of all others.
struct RecordedNodes {
    /// The commands that only describe the card.
    private static let questions: Set<CommandCode> = [
        .requestService, .searchServiceCode, .requestSystemCode, .requestBlockInformation, .requestCodeList,
    ]

    private var answers: [[UInt8]: [UInt8]] = [:]
    /// By IDm.
    private var systems: [[UInt8]: System] = [:]

    init(_ lines: some Sequence<Transcript.Line>) {
        for line in lines where line.entry.masked == nil && !line.entry.leavesOutContents {
            guard case .transceive(let frame, _, .success(let answer)) = line.entry.event,
                RecordedNodes.isQuestion(frame), answer.element(at: 1) == frame[1] + 1, answer.count >= 10
            else { continue }
            answers[frame] = answer
            systems[Array(frame[2..<10]), default: System()].note(frame, answer)
        }
        for idm in systems.keys { systems[idm]?.complete() }
    }

    /// Whether the frame is a command that only describes the card.
    static func isQuestion(_ frame: [UInt8]) -> Bool {
        guard frame.count >= 10, Int(frame[0]) == frame.count, let code = CommandCode(rawValue: frame[1]) else {
            return false
        }
        return questions.contains(code)
    }

    /// Returns the answer to a question; `nil` if the transcript does not contain it.
    func answer(to frame: [UInt8]) -> [UInt8]? {
        guard RecordedNodes.isQuestion(frame) else { return nil }
        if let answer = answers[frame] { return answer }
        let idm = Array(frame[2..<10])
        guard let payload = systems[idm]?.payload(of: frame) else { return nil }
        return [UInt8(clamping: payload.count + 10), frame[1] + 1] + idm + payload
    }

    /// The nodes of one system.
    private struct System {
        /// The answers to Search Service Code by index: an area's first and last code, a service's code, or `FFFF`.
        private var searched: [UInt16: [UInt8]] = [:]
        /// The answers to Request Service by code.
        private var versions: [UInt16: [UInt8]] = [:]
        /// The whole list in ascending order, if it is proved.
        private var list: [[UInt8]]?

        private static let none: [UInt8] = [0xFF, 0xFF]

        mutating func note(_ frame: [UInt8], _ answer: [UInt8]) {
            switch CommandCode(rawValue: frame[1]) {
            case .searchServiceCode:
                if let index = System.codes(frame[10...]).first { searched[index] = Array(answer[10...]) }
            case .requestService:
                let codes = System.codes(frame[10...].dropFirst())
                let found = System.pairs(answer[10...].dropFirst())
                guard codes.count == found.count else { return }
                for (code, version) in zip(codes, found) { versions[code] = version }
            default: break
            }
        }

        /// Makes the list, if the answers prove it.
        mutating func complete() {
            guard let end = searched.filter({ $0.value == System.none }).keys.min() else { return }
            var nodes: [UInt16: [UInt8]] = [0: [0, 0, 0xFE, 0xFF]]
            for (code, version) in versions where version != System.none && code != 0xFFFF {
                nodes[code] = nodes[code] ?? [UInt8(truncatingIfNeeded: code), UInt8(code >> 8)]
            }
            for node in searched.values where node != System.none {
                if let code = System.codes(node[...]).first { nodes[code] = node }
            }
            let sorted = nodes.sorted { $0.key < $1.key }.map(\.value)
            guard sorted.count == Int(end),
                searched.allSatisfy({ Int($0) >= sorted.count || sorted[Int($0)] == $1 })
            else { return }
            list = sorted
        }

        /// Returns what the answer contains after the IDm.
        func payload(of frame: [UInt8]) -> [UInt8]? {
            switch CommandCode(rawValue: frame[1]) {
            case .searchServiceCode:
                guard let list, let index = System.codes(frame[10...]).first else { return nil }
                return list.element(at: Int(index)) ?? System.none
            case .requestService:
                let codes = System.codes(frame[10...].dropFirst())
                let found = codes.compactMap { versions[$0] ?? absence(of: $0) }
                guard !codes.isEmpty, found.count == codes.count else { return nil }
                return [UInt8(clamping: codes.count)] + found.flatMap { $0 }
            default: return nil
            }
        }

        private func absence(of code: UInt16) -> [UInt8]? {
            guard let list, code != 0xFFFF, !list.contains(where: { System.codes($0[...]).first == code }) else {
                return nil
            }
            return System.none
        }

        private static func pairs(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
            stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { [bytes[$0], bytes[$0 + 1]] }
        }

        /// Node codes and indexes are little-endian.
        private static func codes(_ bytes: ArraySlice<UInt8>) -> [UInt16] {
            pairs(bytes).map { UInt16($0[0]) | UInt16($0[1]) << 8 }
        }
    }
}
