// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CPCSC
internal import ReaderCore

/// The exclusive use of the card on one reader.
///
/// Exclusive, because other programs' commands in between would change the current file or use up a verified PIN. The
/// card is reset at the end, so that it forgets both.
struct CardConnection: ~Copyable {
    private let handle: Int
    private var protocolNumber: DWORD
    /// The disposition of the card at the end.
    private let ending: Int32
    private let recorder: LinkRecorder?

    /// Room for the longest extended answer.
    private static let answerCapacity = 65_538 + 10
    /// Room for the answers to commands for the reader itself.
    private static let controlCapacity = 256
    private static let largestCommandAttribute: DWORD = 0x7FFF_A007

    /// Connects to the card.
    init(_ reader: String, in context: borrowing PCSCContext) throws(PCSCError) {
        try self.init(reader, in: context, mode: SCARD_SHARE_EXCLUSIVE, protocols: SCARD_PROTOCOL_ANY)
    }

    private init(
        _ reader: String, in context: borrowing PCSCContext, mode: Int32, protocols: Int32
    ) throws(PCSCError) {
        var handle: SCARDHANDLE = 0
        var number: DWORD = 0
        let code = PCSCCode(
            result: unsafe SCardConnect(context.handle, reader, DWORD(mode), DWORD(protocols), &handle, &number))
        context.recorder?.record(.note("SCardConnect mode \(mode): \(code.hexadecimal), protocol \(number)"))
        guard code == .success else { throw PCSCError(code: code) }
        // Not before the guard: Swift 6.2 releases a stored reference twice when an initializer then throws.
        recorder = context.recorder
        self.handle = handle
        protocolNumber = number
        // A connection to the reader alone leaves the card unchanged: pcscd takes one that it cannot reset, since it
        // has no power yet, for dead, starts it again a moment later, and the protocol in use is another then.
        ending = mode == SCARD_SHARE_DIRECT ? SCARD_LEAVE_CARD : SCARD_RESET_CARD
    }

    deinit {
        recorder?.record(.note("SCardDisconnect disposition \(ending)"))
        SCardDisconnect(handle, DWORD(ending))
    }

    /// Resets the card, which starts as if newly presented.
    mutating func reset() throws(PCSCError) {
        var number: DWORD = 0
        let code = PCSCCode(
            result: unsafe SCardReconnect(
                handle, DWORD(SCARD_SHARE_EXCLUSIVE), DWORD(SCARD_PROTOCOL_ANY), DWORD(SCARD_RESET_CARD), &number))
        recorder?.record(.note("SCardReconnect: \(code.hexadecimal), protocol \(number)"))
        guard code == .success else { throw PCSCError(code: code) }
        protocolNumber = number
    }

    /// Keeps the connection to the reader when the service reports that the card was removed or reset. In a transparent
    /// session the reader itself does not look for cards, so the service believes that there is none.
    mutating func keepReader() throws(PCSCError) {
        var number: DWORD = 0
        let code = PCSCCode(
            result: unsafe SCardReconnect(handle, DWORD(SCARD_SHARE_DIRECT), 0, DWORD(SCARD_LEAVE_CARD), &number))
        guard code == .success else { throw PCSCError(code: code) }
        protocolNumber = number
    }

    /// Sends an APDU, or a pseudo-APDU to the reader itself, and returns the answer with its status word.
    func transmit(_ command: [UInt8]) throws(PCSCError) -> [UInt8] {
        var request = SCARD_IO_REQUEST(
            dwProtocol: protocolNumber, cbPciLength: UInt(MemoryLayout<SCARD_IO_REQUEST>.size))
        var answer = [UInt8](repeating: 0, count: Self.answerCapacity)
        var count = DWORD(answer.count)
        recorder?.record(.sent(command))
        let code = PCSCCode(
            result: unsafe SCardTransmit(handle, &request, command, DWORD(command.count), nil, &answer, &count))
        guard code == .success else {
            recorder?.record(.failed(code.hexadecimal))
            throw PCSCError(code: code)
        }
        recorder?.record(.received(Array(answer.prefix(Int(clamping: count)))))
        return Array(answer.prefix(Int(clamping: count)))
    }

    /// Connects to the reader alone, whether there is a card or not. That fails while somebody has the card for himself.
    init(toReader reader: String, in context: borrowing PCSCContext) throws(PCSCError) {
        try self.init(reader, in: context, mode: SCARD_SHARE_DIRECT, protocols: 0)
    }

    /// Sends a command to the reader's driver.
    func control(_ code: UInt32, _ command: [UInt8]) throws(PCSCError) -> [UInt8] {
        var answer = [UInt8](repeating: 0, count: Self.controlCapacity)
        var count: DWORD = 0
        let result = unsafe SCardControl(
            handle, DWORD(code), command, DWORD(command.count), &answer, DWORD(answer.count), &count)
        let status = PCSCCode(result: result)
        recorder?.record(.note("SCardControl \(Hex.encode(code, digits: 8)): \(status.hexadecimal)"))
        guard status == .success else { throw PCSCError(code: status) }
        return Array(answer.prefix(Int(clamping: count)))
    }

    /// The longest command that a reader's driver reports to accept, in bytes; `nil` when it does not. Needs no card.
    static func longestCommand(of reader: String, in context: borrowing PCSCContext) -> Int? {
        guard let connection = try? CardConnection(toReader: reader, in: context) else { return nil }
        return connection.number(of: largestCommandAttribute)
    }

    /// A numeric attribute of the reader.
    private func number(of attribute: DWORD) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 16)
        var count = DWORD(bytes.count)
        guard PCSCCode(result: unsafe SCardGetAttrib(handle, attribute, &bytes, &count)) == .success, count == 4 else {
            return nil
        }
        return bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The PC/SC service's view of a reader at one moment.
struct CardPresence: Hashable, Sendable {
    /// The state as reported by the service: flags below, a count of events above bit 16.
    var state: UInt
    /// The ATR of the card, empty when there is none.
    var atr: [UInt8]

    /// The initial state: any actual state counts as an event.
    static let unknown = CardPresence(state: 0, atr: [])

    private static let unknownReader: UInt = 0x0004
    private static let unavailable: UInt = 0x0008
    private static let present: UInt = 0x0020
    private static let mute: UInt = 0x0200

    /// The count of cards that came or left.
    var events: UInt { state >> 16 }
    /// Whether there is a card that did not start.
    var isMute: Bool { state & Self.present != 0 && state & Self.mute != 0 }
    /// Whether there is a card that answers.
    var hasCard: Bool { state & Self.present != 0 && state & Self.mute == 0 }
    var readerIsGone: Bool { state & (Self.unknownReader | Self.unavailable) != 0 }
}
