// SPDX-License-Identifier: Apache-2.0

import CardModel
import FeliCa
import ReaderCore
import TestSupport
import Testing

@Suite("Messages of FeliCa errors")
struct FeliCaErrorMessageTests {
    private enum Kind: CaseIterable { case transport, malformed, status, invalidArgument }

    @Test("Every case describes itself")
    func cases() {
        let errors: [FeliCaError] = [
            .transport(.noAnswer), .malformed(.polling, .empty), .status(StatusFlags(0xFF, 0xA6)),
            .status(StatusFlags(1, 0x55)), .invalidArgument(.packetTooLong(300)),
        ]
        checkSentences(errors) { error -> Kind in
            switch error {
            case .transport: .transport
            case .malformed: .malformed
            case .status: .status
            case .invalidArgument: .invalidArgument
            }
        }
        #expect(errors[2].description == "the card refused the command: status FFA6 (no such area or service)")
        #expect(errors[3].description == "the card refused the command: status 0155")
    }

    private enum Fault: CaseIterable {
        case empty, length, responseCode, idm, tooShort, trailingBytes, count, value, echo
    }

    @Test("Every fault of an answer describes itself, without the card's data")
    func faults() {
        let idm = IDm(rawValue: 0x0101_0312_3456_7890)
        let faults: [FeliCaError.Reason] = [
            .empty, .length(declared: 1, received: 2), .responseCode(7), .idm(idm), .tooShort(missing: 1),
            .trailingBytes(extra: 1), .count(expected: 1, received: 2), .value(.mode, 9), .echo,
        ]
        checkSentences(faults) { fault -> Fault in
            switch fault {
            case .empty: .empty
            case .length: .length
            case .responseCode: .responseCode
            case .idm: .idm
            case .tooShort: .tooShort
            case .trailingBytes: .trailingBytes
            case .count: .count
            case .value: .value
            case .echo: .echo
            }
        }
        #expect(!FeliCaError.malformed(.polling, .idm(idm)).description.contains("1234"))
    }

    private enum Argument: CaseIterable { case count, packetTooLong, answerTooLong, serviceIndex }

    @Test("Every argument that cannot be sent is explained")
    func arguments() {
        let lists: [FeliCaError.ArgumentReason.List] = [.nodes, .services, .blocks, .blockData, .echoData]
        let reasons: [FeliCaError.ArgumentReason] =
            lists.map { .count($0, 20, allowed: 1...15) } + [
                .packetTooLong(300), .answerTooLong(300), .serviceIndex(3, element: 1),
            ]
        checkSentences(reasons) { reason -> Argument in
            switch reason {
            case .count: .count
            case .packetTooLong: .packetTooLong
            case .answerTooLong: .answerTooLong
            case .serviceIndex: .serviceIndex
            }
        }
        #expect(
            FeliCaError.invalidArgument(reasons[2]).description
                == "the command cannot be sent: 20 blocks instead of 1 to 15")
    }
}
