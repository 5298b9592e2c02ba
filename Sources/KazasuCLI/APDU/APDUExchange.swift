// SPDX-License-Identifier: Apache-2.0

import ByteCodec
import CardModel
import ISO7816

/// One command and its answer, for the output. Of a VERIFY only the header is kept.
struct APDUExchange {
    var step: APDUStep
    var response: ResponseAPDU

    /// The answer on one line: data and status word, or the status word alone.
    func line(_ separator: HexSeparator, _ redaction: Redaction) -> String {
        let data = Hex.encode(shown(response.data, redaction), uppercase: true, separator: separator.text)
        return (data.isEmpty ? "" : data + " ") + response.status.description
    }

    /// One element of `exchanges` in `kazasu.apdu/1`.
    func json(_ redaction: Redaction) -> JSONValue {
        let tx = redaction.isOn ? ISO14443Redaction.command(sent, isAPDU: true) : sent
        var object = JSONObject([("tx", .string(Hex.encode(tx)))])
        if case .verify(_, let number) = step.action { object["pin"] = .int(number) }
        object["data"] = .string(Hex.encode(shown(response.data, redaction)))
        object["sw"] = .string(response.status.description)
        return .object(object)
    }

    private var sent: [UInt8] {
        switch step.action {
        case .send(let command): (try? command.encoded()) ?? []
        case .tries(let reference), .verify(let reference, _):
            [reference.cla.rawValue, Instruction.verify.rawValue, 0x00, reference.p2]
        }
    }

    /// Nobody knows what of it is personal, so all of it is.
    private func shown(_ data: [UInt8], _ redaction: Redaction) -> [UInt8] {
        redaction.isOn ? data.map { _ in 0 } : data
    }
}
