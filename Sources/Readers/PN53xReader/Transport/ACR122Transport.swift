// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
internal import CardCiphers
internal import ReaderCore
internal import SystemDevices
internal import USBTransport

/// An ACR122U over libusb, without libnfc: its PN532, and on the same connection its lights and buzzer, which libnfc
/// does not reach.
///
/// Each message has a number that its answer repeats: an answer to an earlier one, also of an earlier program, is
/// discarded (nfcpy issue 200 has a reader that was one answer behind).
final class ACR122Transport: PN53xTransport {
    let family = ReaderFamily.acr122
    let port: SerialPort? = nil
    let patience: Int
    let name: String
    private let usb: any USBLink
    private var sequence: UInt8 = 0
    private var isUnplugged = false
    private var isOpen = true

    /// How long the reader may take beside the chip.
    private static let readerTime = Duration.milliseconds(500)
    /// How long the reader must be quiet to count as having sent everything.
    private static let quietTime = Duration.milliseconds(10)
    /// The maximum number of messages that are discarded before the expected one.
    private static let mostUnwanted = 32

    /// Brings the reader to a known state: leftovers of an earlier program are discarded, it does not poll by itself, and
    /// its chip answers.
    ///
    /// - Parameters:
    ///   - model: the display name of the model.
    ///   - patience: the factor by which waits exceed those for a real reader.
    /// - Throws: ``TransportError``; the link is not closed.
    init(_ usb: any USBLink, model: String, patience: Int = 1) throws(TransportError) {
        self.usb = usb
        self.patience = patience
        let opening = Opening(usb: usb, time: Self.readerTime * patience)
        let firmware = try opening.run(quiet: Self.quietTime, atMost: Self.mostUnwanted)
        sequence = opening.sequence
        name = firmware.map { "\(model) (firmware \($0))" } ?? model
    }

    deinit {
        close()
    }

    var isGone: Bool { isUnplugged }

    var takesParameters: Bool { true }

    /// An earlier program may have left the chip in any state.
    var initialState: ChipState { ChipState() }

    var closingCommands: [[UInt8]] { [ChipCommand.release, ChipCommand.fieldOff] }

    /// The reader reports that it needs more time.
    let longestExtension = ReaderInformation.longestCardExtension

    /// The link ends its transfers by itself.
    var abort: @Sendable () -> Void { {} }

    func ignoreAbort() { usb.ignoreCancellation() }

    func close() {
        guard isOpen else { return }
        isOpen = false
        usb.close()
    }

    func transceive(_ command: [UInt8], within time: Duration) -> ChipAnswer {
        guard isOpen, let code = command.first, command.count <= family.longestCommand else {
            return ChipAnswer(
                outcome: .failed(.frameTooLong(length: command.count, limit: family.longestCommand)), bytes: [])
        }
        let end = ContinuousClock.now + (time + Self.readerTime) * patience
        var apdu = ACR122Command.chip(command)
        defer { apdu.wipe() }
        switch wholeAnswer(to: apdu, code: code, until: end) {
        case .failure(.usb(let error)): return ChipAnswer(outcome: outcome(of: error), bytes: [])
        case .failure(.damaged):
            return ChipAnswer(outcome: .readerInDoubt(ChipResult.damagedOnTheWay), bytes: [])
        case .failure(.refused):
            return ChipAnswer(outcome: .readerInDoubt(ChipResult.damagedOnTheWay), bytes: [], mayBeRefusal: true)
        case .failure(.silent): return ChipAnswer(outcome: .readerInDoubt(.readerTimeout), bytes: [])
        case .success(let bytes): return ChipAnswer(to: command, bytes)
        }
    }

    /// Sets the lights first, so that they are seen before the buzzer has ended.
    func show(_ signal: ReaderSignal) throws(TransportError) -> Bool {
        guard try order(ACR122Command.lights(signal)) else { return false }
        guard let tone = ACR122Command.tone(signal) else { return true }
        return try order(tone.command, lasting: tone.duration)
    }

    func silence() throws(TransportError) -> Bool { try order(ACR122Command.noBeep) }

    /// Has the reader itself do something.
    ///
    /// - Returns: whether it did.
    private func order(_ apdu: [UInt8], lasting time: Duration = .zero) throws(TransportError) -> Bool {
        guard isOpen else { throw .closed }
        do throws(ACR122Fault) {
            let data = try exchange(apdu, until: .now + (time + Self.readerTime) * patience)
            guard let isDone = ACR122Command.isDone(data) else { throw .damaged }
            return isDone
        } catch {
            switch error {
            case .usb(let error):
                _ = outcome(of: error)
                throw error.transportError
            case .damaged, .refused: throw ChipResult.damagedOnTheWay
            case .silent: throw .readerTimeout
            }
        }
    }

    /// Runs a command. In InDataExchange, a card's answer that is longer than a message is fetched in parts.
    private func wholeAnswer(
        to apdu: [UInt8], code: UInt8, until end: ContinuousClock.Instant
    ) -> Result<[UInt8], ACR122Fault> {
        Result { () throws(ACR122Fault) in
            var whole = try chipAnswer(to: apdu, code: code, until: end)
            guard code == ChipCommand.exchangeDataCode, let target = apdu.element(at: 7) else { return whole }
            while let status = whole.first, status & ChipCommand.moreInformation != 0 {
                let part = try chipAnswer(to: ACR122Command.chip([code, target]), code: code, until: end)
                // Empty parts with more to follow could continue forever.
                guard let next = part.first, part.count > 1 || next & ChipCommand.moreInformation == 0,
                    whole.count <= Self.longestAnswer
                else { throw .damaged }
                whole = [next] + whole.dropFirst() + part.dropFirst()
            }
            return whole
        }
    }

    /// The maximum total size of the parts of one answer: an extended response APDU and the status before it.
    private static let longestAnswer = 65_536 + 3

    private func chipAnswer(
        to apdu: [UInt8], code: UInt8, until end: ContinuousClock.Instant
    ) throws(ACR122Fault) -> [UInt8] {
        var data = try exchange(apdu, until: end)
        if case .more(let length) = ACR122Command.reply(data, to: code) {
            data = try exchange(ACR122Command.rest(length), until: end)
        }
        switch ACR122Command.reply(data, to: code) {
        case .answer(let bytes): return bytes
        case .silent: throw .silent
        case .refused: throw .refused
        case .more, .other: throw .damaged
        }
    }

    /// Sends a pseudo APDU and returns its answer's data.
    private func exchange(_ apdu: [UInt8], until end: ContinuousClock.Instant) throws(ACR122Fault) -> [UInt8] {
        sequence &+= 1
        return try usb.exchange(ACR122Message.transfer(apdu, sequence: sequence), sequence, until: end)
    }

    private func outcome(of error: USBError) -> ChipResult {
        switch error {
        case .gone, .taken:
            isUnplugged = error == .gone
            return .failed(error.transportError)
        default: return .readerInDoubt(error.transportError)
        }
    }
}

/// Why a message to an ACR122U has no usable answer.
enum ACR122Fault: Error, Hashable, Sendable {
    case usb(USBError)
    /// Not a message, or not this command's answer.
    case damaged
    /// The chip did not answer the reader.
    case silent
    /// The chip, or the reader, refused the command.
    case refused
}

extension USBLink {
    /// Sends a message and receives the answer with its number.
    fileprivate func exchange(
        _ message: [UInt8], _ sequence: UInt8, until end: ContinuousClock.Instant
    ) throws(ACR122Fault) -> [UInt8] {
        do throws(USBError) {
            let start = ContinuousClock.now
            let (step, last) = (end - start, start + ReaderInformation.longestCardExtension)
            var end = end
            try send(message, within: max(.milliseconds(1), end - .now))
            // Most of them are requests for more time, up to several a second.
            var others = 0
            while others < 32, ContinuousClock.now < max(end, last) {
                let bytes = try receive(within: max(.milliseconds(1), end - .now))
                guard let answer = ACR122Message(bytes) else {
                    if bytes.isEmpty { continue }
                    throw USBError.overflow
                }
                guard answer.sequence == sequence, answer.needsTime else {
                    if answer.sequence == sequence { return answer.data }
                    others += 1
                    continue
                }
                end = max(end, min(.now + step, last))
            }
            throw USBError.timedOut
        } catch .overflow {
            throw .damaged
        } catch {
            throw .usb(error)
        }
    }
}

/// The first messages to an ACR122U.
private final class Opening {
    private let usb: any USBLink
    private let time: Duration
    private(set) var sequence: UInt8 = 0

    private static let attempts = 3

    init(usb: any USBLink, time: Duration) {
        (self.usb, self.time) = (usb, time)
    }

    /// - Returns: the firmware's name, if it can be shown.
    func run(quiet: Duration, atMost count: Int) throws(TransportError) -> String? {
        var failure = TransportError.readerTimeout
        for _ in 0..<Self.attempts {
            do throws(ACR122Fault) {
                try drain(quiet, count)
                sequence &+= 1
                _ = try usb.exchange(ACR122Message.powerOn(sequence: sequence), sequence, until: .now + time)
                try stopPolling()
                let firmware = try ask(ACR122Command.firmware)
                guard
                    case .answer = ACR122Command.reply(
                        try ask(ACR122Command.chip(ChipCommand.firmwareVersion)), to: ChipCommand.firmwareVersion[0])
                else { throw .silent }
                return Self.text(firmware)
            } catch {
                switch error {
                case .usb(let error) where error.isFinal: throw error.transportError
                case .usb(let error): failure = error.transportError
                case .damaged, .refused: failure = ChipResult.damagedOnTheWay
                case .silent: failure = .readerTimeout
                }
            }
        }
        throw failure
    }

    /// Keeps the reader from polling by itself, where it can: a copy may not answer that (libnfc issues 576 and 563).
    private func stopPolling() throws(ACR122Fault) {
        do throws(ACR122Fault) {
            _ = try ask(ACR122Command.noPolling)
        } catch {
            if case .usb(let fault) = error, fault.isFinal { throw error }
        }
    }

    private func ask(_ apdu: [UInt8]) throws(ACR122Fault) -> [UInt8] {
        sequence &+= 1
        return try usb.exchange(ACR122Message.transfer(apdu, sequence: sequence), sequence, until: .now + time)
    }

    private func drain(_ quiet: Duration, _ count: Int) throws(ACR122Fault) {
        for _ in 0..<count {
            do throws(USBError) {
                _ = try usb.receive(within: quiet)
            } catch {
                switch error {
                case .timedOut: return
                case .overflow, .stalled: continue
                default: throw .usb(error)
                }
            }
        }
    }

    /// Printable ASCII only: it is shown on terminals.
    private static func text(_ bytes: [UInt8]) -> String? {
        guard (1...32).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
