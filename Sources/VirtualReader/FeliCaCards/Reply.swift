// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// What a command leads to, before it is a packet.
struct Reply {
    /// The IDm after the response code; `nil` for the commands without one.
    var idm: IDm?
    /// What follows.
    var payload: [UInt8]
    /// How many nodes or blocks the card had to work on, for the PMm's time; the time slot of a Polling.
    var units: Int

    init(_ payload: [UInt8], units: Int = 0) {
        self.payload = payload
        self.units = units
    }

    /// The packet with its LEN byte; `nil` when it would be longer than LEN can say.
    func frame(for code: CommandCode) -> [UInt8]? {
        let responseCode = code == .echo ? code.rawValue : code.rawValue &+ 1
        let body = [responseCode] + (idm?.bytes ?? []) + payload
        return UInt8(exactly: body.count + 1).map { [$0] + body }
    }
}
