// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ISODEP
internal import NFCTransport
internal import USBTransport

/// An RC-S300 or RC-S660/U.
///
/// It uses the vendor's own interface, so pcscd may keep the chip card one. In steady state an exchange is one command: two
/// USB transfers.
final class Port400Reader: Reader {
    let information: ReaderInformation
    private let link: Port400Link
    private let radio: Port400Radio
    private let cancellation: CancellationToken
    private var card: Card?
    private var pcd: PCD
    private var isClosed = false

    private enum Card {
        case felica(FeliCaBitRate)
        case iso14443
    }

    /// Brings a reader to a known state: whatever a predecessor left is thrown away, a session of our own begins.
    convenience init(
        _ usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken
    ) throws(TransportError) {
        try self.init(usb, information, cancellation, pause: ThreadPause.sleep)
    }

    init(
        _ usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken,
        pause: @escaping Port400Dialogue.Pause
    ) throws(TransportError) {
        let link = Port400Link(usb, Port400Dialogue(pause: pause))
        try link.synchronise()
        let version = try link.run(Port400Command.firmwareVersion)
        let radio = Port400Radio(link, pause: pause)
        try radio.beginSession()
        self.link = link
        self.radio = radio
        self.cancellation = cancellation
        pcd = PCD(radio)
        var information = information
        information.technologies = [.felica, .typeA, .typeB]
        // No source shows an RC-S300 at another speed; who asks for 424 kbit/s gets it where the reader does.
        information.feliCaBitRates = [.kbps212]
        if let text = Self.text(ofVersion: version) { information.name += " (firmware \(text))" }
        self.information = information
    }

    deinit {
        close()
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try check()
        card = nil
        return try cancellation.run { () throws(TransportError) -> PICC? in
            do throws(TransportError) {
                return try look(for: request)
            } catch .cardReleased {
                // The reader had ended the session; there is no card to lose yet.
                do throws(TransportError) {
                    return try look(for: request)
                } catch .cardReleased {
                    throw Port400Status.notAllowed
                }
            }
        }
    }

    private func look(for request: ActivationRequest) throws(TransportError) -> PICC? {
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            // A card left in ISO-DEP would not be found again.
            try pcd.release()
            return try poll(FeliCaPolling(system, requestCode: requestCode, timeSlots: timeSlots), at: bitRate)
        default:
            let found = try pcd.activate(request)
            if found != nil { card = .iso14443 }
            return found
        }
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard !frame.isEmpty else { throw .unsupported(detail: .init(.emptyFrame)) }
        try check()
        return try cancellation.run { () throws(TransportError) -> [UInt8] in
            switch card {
            case nil: throw .cardReleased
            case .iso14443: return try pcd.transceive(frame, timeout: timeout)
            case .felica(let bitRate):
                guard frame.count <= Port400Radio.longestFrame else {
                    throw .frameTooLong(length: frame.count, limit: Port400Radio.longestFrame)
                }
                return try radio.exchange(felica: frame, at: bitRate, within: timeout)
            }
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        link.close()
    }

    private func poll(_ polling: FeliCaPolling, at bitRate: FeliCaBitRate) throws(TransportError) -> PICC? {
        let target = try polling.look(at: bitRate) { frame, time throws(TransportError) in
            try radio.exchange(felica: frame, at: bitRate, within: time)
        }
        guard let target else { return nil }
        card = .felica(bitRate)
        return .felica(target)
    }

    private func check() throws(TransportError) {
        if isClosed { throw .closed }
        try cancellation.check()
    }

    /// Of 18 bytes the third and the fourth: 1.00 is `00 00 01 00 …`, which the CCID interface of the same reader calls
    /// 1.00, too.
    private static func text(ofVersion bytes: [UInt8]) -> String? {
        guard bytes.count >= 6 else { return nil }
        return "\(bytes[2]).\(bytes[3] < 10 ? "0" : "")\(bytes[3])"
    }
}

/// Commands to a Port-400 and their answers.
typealias Port400Link = PaSoRiLink<Port400Dialogue>

/// How a Port-400 is talked to: each command has a number that its answer repeats, so a late answer is known and thrown
/// away.
struct Port400Dialogue: PaSoRiDialogue {
    /// Lets time pass: the reader asks for that when it is busy, and after the field was switched.
    typealias Pause = (Duration) -> Void

    private let pause: Pause
    private var sequence: UInt8 = 0

    /// felica-rs waits as long.
    static let commandTime = Duration.milliseconds(1500)
    /// The field off, and the end of the session.
    static let farewell = [Port400Command.manageSession(.fieldOff), Port400Command.manageSession(.end)]

    private static let busyPause = Duration.milliseconds(50)
    /// How often a busy reader is asked again: for one second.
    private static let busyAttempts = 20

    init(pause: @escaping Pause) {
        self.pause = pause
    }

    /// Returns the answer's data with the status word.
    mutating func exchange(
        _ command: [UInt8], over wire: USBWire<Port400Message>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        for _ in 0..<Self.busyAttempts {
            sequence &+= 1
            try wire.send(Port400Message.command(command, sequence: sequence))
            do throws(PaSoRiError) {
                return try answer(from: wire, within: time)
            } catch {
                guard error == .busy else { throw error }
                pause(Self.busyPause)
            }
        }
        throw .busy
    }

    private func answer(
        from wire: USBWire<Port400Message>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        // Time that the reader asks for is for the card, whose time it was told: it cannot need much more.
        try wire.first(within: time, inAll: time * 2) { message throws(PaSoRiError) in
            // An older command's.
            guard message.sequence == sequence else { return nil }
            switch message.status {
            case .done: return message.data
            case .busy: throw .busy
            case .moreTime: return nil
            case .failed(let error): throw .refused(error: error)
            }
        }
    }

    /// Returns the whole answer: what a status word means depends on the command.
    static func result(of answer: [UInt8]) -> [UInt8] { answer }

    func interrupt(_ wire: USBWire<Port400Message>) {}

    mutating func greet(_ wire: USBWire<Port400Message>) throws(PaSoRiError) {
        _ = try exchange(Port400Command.firmwareVersion, over: wire, within: Self.commandTime)
    }
}
