// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The terminal's duties around a single command, each a small step.
extension ISO7816Session {
    /// The maximum number of bytes fetched for one answer: no command requests more.
    static let longestFetchedAnswer = 0x10000
    /// The maximum number of GET RESPONSE commands for one answer: enough for the longest in parts of 256 bytes.
    static let mostFetches = 300

    /// Splits a command whose data is too long for one APDU: command chaining (ISO/IEC 7816-4 §5.3.3).
    ///
    /// All but the last command have the chaining bit and request nothing.
    func chained(_ command: CommandAPDU) throws(ISO7816Error) -> [CommandAPDU] {
        let most = limits.longestData
        guard command.data.count > most, command.lengthForm != .extended else { return [command] }
        guard command.data.count <= 0xFFFF else { throw .invalidCommand(.dataTooLong(command.data.count)) }
        guard command.cla.isInterindustry, !command.cla.isChaining else {
            throw .invalidCommand(.noChaining(command.cla))
        }
        var parts: [CommandAPDU] = []
        var rest = command.data[...]
        while !rest.isEmpty {
            var part = command
            part.data = Array(rest.prefix(most))
            rest = rest.dropFirst(most)
            if !rest.isEmpty {
                part.cla = command.cla.chaining(true)
                part.ne = 0
            }
            parts.append(part)
        }
        return parts
    }

    /// Sends the same command once more with the length that the card returned: Le correction (§5.6, 6Cxx).
    func corrected(_ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        let response = try exchange(command)
        guard let length = response.status.correctLength else { return response }
        var again = command
        again.ne = min(length, limits.longestExpected)
        return try exchange(again)
    }

    /// Fetches the rest with GET RESPONSE (§5.6, 61xx) until the card no longer reports that there is more.
    func fetched(_ first: ResponseAPDU, _ command: CommandAPDU) throws(ISO7816Error) -> ResponseAPDU {
        var whole = first
        var fetches = 0
        while let available = whole.status.bytesAvailable {
            fetches += 1
            guard fetches <= ISO7816Session.mostFetches else { throw .malformed(command.ins, .endlessResponse) }
            let get = CommandAPDU(
                .getResponse, cla: command.cla.chaining(false), ne: min(available, limits.longestExpected),
                lengthForm: .short)
            let part = try corrected(get)
            whole.data += part.data
            whole.status = part.status
            guard whole.data.count <= ISO7816Session.longestFetchedAnswer,
                !part.data.isEmpty || part.status.bytesAvailable == nil
            else { throw .malformed(command.ins, .endlessResponse) }
        }
        return whole
    }
}
