// SPDX-License-Identifier: Apache-2.0

internal import CardModel
public import FeliCa
internal import ReaderCore

/// Whether a FeliCa card answers a command.
public struct ProbedCommand: Hashable, Sendable {
    /// The command.
    public let code: CommandCode
    /// Whether it was answered, with status flags that refuse it as well; silence means that the card does not know it.
    public let isAnswered: Bool
}

/// Asks a FeliCa card which commands it answers.
///
/// Every command that is sent only reads: no key is used, nothing is written, and the card's mode stays the same. Commands
/// that authenticate (10, 12, 34, 36, 40, 42), write or set (08, 14, 16, 20, 44 to 4C, 78 to 8E) or change the mode (3E) are
/// never sent. No Polling is sent either, which could open a phone's wallet: whether a card that keeps silent is still there
/// is asked with Read Without Encryption, which every product answers.
package struct CommandProbe {
    private let session: CardSession
    private let felica: FeliCaSystem

    package init(session: CardSession) {
        self.session = session
        felica = FeliCaSystem(channel: session.reader, idm: session.target.idm, pmm: session.target.pmm)
    }

    /// What was found, also if the card left early.
    package struct Result: Hashable, Sendable {
        /// In the order of the codes.
        package var commands: [ProbedCommand]
        package var interruption: ReadingError?
    }

    /// Sends each command until the card answers it, or keeps silent twice although it is there.
    package func run() -> Result {
        var result = Result(commands: [], interruption: nil)
        do throws(ReadingError) {
            for question in Self.questions(felica.times) {
                let isAnswered = try answers(question)
                result.commands.append(ProbedCommand(code: question.code, isAnswered: isAnswered))
            }
        } catch {
            result.interruption = error
        }
        return result
    }

    /// A command that changes nothing.
    struct Question {
        let code: CommandCode
        var carriesIDm = true
        let parameters: [UInt8]
        let time: Duration

        /// The whole packet.
        func packet(for idm: IDm) -> [UInt8] {
            let address = (0..<8).map { UInt8(truncatingIfNeeded: idm.rawValue >> UInt64(56 - 8 * $0)) }
            let body = code.bytes + (carriesIDm ? address : []) + parameters
            return [UInt8(truncatingIfNeeded: body.count + 1)] + body
        }
    }

    /// The commands that are sent, by code.
    static func questions(_ times: ResponseTime) -> [Question] {
        let (node, fixed, other) = (
            times.maximum(.variable, units: 1), times.maximum(.fixed), times.maximum(.other)
        )
        return [
            // Of the root area.
            Question(code: .requestService, parameters: [0x01, 0x00, 0x00], time: node),
            Question(code: .requestResponse, parameters: [], time: times.maximum(.fixed, units: 1)),
            presence(times),
            Question(code: .searchServiceCode, parameters: [0x00, 0x00], time: fixed),
            Question(code: .requestSystemCode, parameters: [], time: fixed),
            Question(code: .requestBlockInformation, parameters: [0x01, 0x00, 0x00], time: node),
            Question(
                code: .requestCodeList, parameters: [0x00, 0x00, 0x01, 0x00],
                time: times.maximum(.variable, units: 32)),
            Question(code: .requestBlockInformationEx, parameters: [0x01, 0x00, 0x00], time: node),
            Question(code: .getContainerIssueInformation, parameters: [0x00, 0x00], time: other),
            Question(code: .getAreaInformation, parameters: [0x00, 0x00], time: fixed),
            // Value limits of a service.
            Question(code: .getNodeProperty, parameters: [0x00, 0x01, 0x0B, 0x00], time: node),
            Question(code: .getContainerProperty, carriesIDm: false, parameters: [0x00, 0x00], time: other),
            Question(code: .requestServiceV2, parameters: [0x01, 0x00, 0x00], time: node),
            Question(code: .getSystemStatus, parameters: [0x00, 0x00], time: fixed),
            Question(code: .requestProductInformation, parameters: [], time: other),
            Question(code: .requestSpecificationVersion, parameters: [0x00, 0x00], time: fixed),
            Question(code: .getContainerID, carriesIDm: false, parameters: [0x00, 0x00], time: other),
            Question(code: .echo, carriesIDm: false, parameters: [0x00], time: fixed),
        ]
    }

    /// Read Without Encryption of one block; a service that is not there is refused, which is an answer.
    private static func presence(_ times: ResponseTime) -> Question {
        Question(
            code: .readWithoutEncryption, parameters: [0x01, 0x0B, 0x00, 0x01, 0x80, 0x00],
            time: times.maximum(.read, units: 1))
    }

    /// The number of tries until silence counts, and until a damaged answer ends the probing.
    private static let (silence, damage) = (2, 4)

    private func answers(_ question: Question) throws(ReadingError) -> Bool {
        for _ in 0..<Self.silence {
            if try ask(question) { return true }
            guard try isPresent() else { throw .cardLost }
        }
        return false
    }

    private func isPresent() throws(ReadingError) -> Bool {
        for _ in 0..<3 {
            if try ask(Self.presence(felica.times)) { return true }
        }
        return false
    }

    /// Sends a command once; damaged answers are asked for again.
    ///
    /// - Returns: whether there was an answer.
    private func ask(_ question: Question) throws(ReadingError) -> Bool {
        let packet = question.packet(for: felica.idm)
        for attempt in 1...Self.damage {
            do throws(TransportError) {
                let frame = try session.exchange(packet, timeout: question.time)
                if question.isAnswer(frame, from: felica.idm) { return true }
                guard attempt < Self.damage else { throw .corrupted(status: 0) }
            } catch .noAnswer, .cardReleased {
                return false
            } catch {
                guard error.isTransient, attempt < Self.damage else { throw CardSession.readingError(error) }
            }
        }
        return false
    }
}

extension CommandProbe.Question {
    /// Whether a frame is the answer of this card to the command.
    func isAnswer(_ frame: [UInt8], from idm: IDm) -> Bool {
        let code = code.response.bytes
        guard let length = frame.first, Int(length) == frame.count, frame.dropFirst().starts(with: code) else {
            return false
        }
        guard carriesIDm else { return true }
        let address = (0..<8).map { UInt8(truncatingIfNeeded: idm.rawValue >> UInt64(56 - 8 * $0)) }
        return frame.dropFirst(1 + code.count).starts(with: address)
    }
}
