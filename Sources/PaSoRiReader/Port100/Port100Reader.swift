// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import ISODEP
internal import NFCTransport
internal import USBTransport

/// An RC-S380.
///
/// Modulation and protocol are told to the reader only when they change, so an exchange is one command: three USB
/// transfers, where nfcpy needs nine.
final class Port100Reader: Reader {
    let information: ReaderInformation
    private let link: Port100Link
    private let radio: Port100Radio
    private let cancellation: CancellationToken
    /// Cards of type A and B.
    private var pcd: PCD
    /// The speed of the FeliCa card that was looked for last; `nil` when that was a card of type A or B.
    private var feliCa: FeliCaBitRate?
    private var isClosed = false

    /// The longest frame to a card; nfcpy's figure.
    static let longestFrame = 290

    /// Brings a reader to a known state: whatever a predecessor left is thrown away, and the field is off.
    init(
        _ usb: any USBLink, _ information: ReaderInformation, _ cancellation: CancellationToken
    ) throws(TransportError) {
        let link = Port100Link(usb)
        try link.synchronise()
        let version = try link.run(.getFirmwareVersion, [])
        guard try link.run(.switchRF, [0x00]) == [0x00] else { throw .readerFailed(detail: .init(.fieldStaysOn)) }
        self.link = link
        self.cancellation = cancellation
        radio = Port100Radio(link)
        pcd = PCD(radio)
        var information = information
        information.technologies = [.felica, .typeA, .typeB]
        // The faster first: it halves the time in the air, and cards that do not hear it (Octopus) are found at the other.
        information.feliCaBitRates = [.kbps424, .kbps212]
        // What one block of ISO-DEP does not hold is chained.
        information.longestCommandAPDU = 65_544
        information.longestResponseAPDU = 65_538
        if let version = Self.text(ofVersion: version) { information.name += " (firmware \(version))" }
        self.information = information
    }

    deinit {
        close()
    }

    /// Looks once for a card.
    ///
    /// - Returns: the card, or `nil` when none answered.
    /// - Throws: ``TransportError`` when the reader failed, was closed, or work was cancelled;
    ///   ``TransportError/corrupted(status:)`` when what answered could not be selected.
    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try check()
        switch request {
        case .felica(let system, let requestCode, let timeSlots, let bitRate):
            // A card left in ISO-DEP would not be found again.
            try cancellation.run { () throws(TransportError) in try pcd.release() }
            feliCa = bitRate
            let polling = FeliCaPolling(system, requestCode: requestCode, timeSlots: timeSlots)
            return try cancellation.run { () throws(TransportError) in try poll(polling, bitRate) }
        case .typeA, .typeB:
            feliCa = nil
            return try cancellation.run { () throws(TransportError) in try pcd.activate(request) }
        }
    }

    private func poll(_ polling: FeliCaPolling, _ bitRate: FeliCaBitRate) throws(TransportError) -> PICC? {
        try polling.look(at: bitRate) { frame, time throws(TransportError) in
            try radio.exchange(frame, as: .felica(bitRate), within: time).bytes
        }.map { .felica($0) }
    }

    /// Sends one frame to the card that was looked for last.
    ///
    /// - Parameters:
    ///   - frame: a FeliCa packet, or what ``PICC/isISODEP`` says.
    ///   - timeout: the longest time that the card may take; one frame waits 6.5 s at most.
    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard !frame.isEmpty else { throw .unsupported(detail: .init(.emptyFrame)) }
        try check()
        guard let feliCa else {
            return try cancellation.run { () throws(TransportError) in try pcd.transceive(frame, timeout: timeout) }
        }
        guard frame.count <= Self.longestFrame else {
            throw .frameTooLong(length: frame.count, limit: Self.longestFrame)
        }
        return try cancellation.run { () throws(TransportError) in
            try radio.exchange(frame, as: .felica(feliCa), within: timeout).bytes
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        link.close()
    }

    private func check() throws(TransportError) {
        if isClosed { throw .closed }
        try cancellation.check()
    }

    /// `11 01` is 1.11.
    private static func text(ofVersion bytes: [UInt8]) -> String? {
        guard bytes.count == 2, let low = bytes.first, let high = bytes.last else { return nil }
        return "\(String(high, radix: 16)).\(low < 0x10 ? "0" : "")\(String(low, radix: 16))"
    }
}

/// Commands to a Port-100 and their answers.
typealias Port100Link = PaSoRiLink<Port100Dialogue>

extension Port100Link {
    convenience init(_ usb: any USBLink) {
        self.init(usb, Port100Dialogue())
    }

    /// Sends a command and returns what follows the answer's code.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    func run(
        _ command: Port100Command, _ parameters: [UInt8], within time: Duration = .zero
    ) throws(TransportError) -> [UInt8] {
        try run(Port100Dialogue.bytes(command, parameters), within: time)
    }
}

/// How a Port-100 is talked to: each command is acknowledged before it is answered, and an acknowledgement from the host
/// ends the command that the chip works on.
struct Port100Dialogue: PaSoRiDialogue {
    static let commandTime = Duration.seconds(1)

    static let farewell = [bytes(.switchRF, [0x00])]

    /// A command as ``PaSoRiLink`` takes it.
    static func bytes(_ command: Port100Command, _ parameters: [UInt8]) -> [UInt8] {
        [command.rawValue] + parameters
    }

    /// Returns what follows the answer's code.
    func exchange(
        _ command: [UInt8], over wire: USBWire<Port100Frame>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        try wire.send(Port100Frame.encode([0xD6] + command))
        // What comes before the acknowledgement is older than the command.
        try wire.first(within: Self.commandTime) { $0 == .acknowledge ? true : nil }
        return try wire.first(within: time) { frame throws(PaSoRiError) in
            switch frame {
            // One too many.
            case .acknowledge: return nil
            case .error: throw .damaged
            case .data(let data):
                guard let code = command.first, data.starts(with: [0xD7, code &+ 1]) else { throw .damaged }
                return Array(data.dropFirst(2))
            }
        }
    }

    static func result(of answer: [UInt8]) -> [UInt8] { answer }

    func interrupt(_ wire: USBWire<Port100Frame>) throws(PaSoRiError) {
        try wire.send(Port100Frame.acknowledgeBytes)
    }

    func greet(_ wire: USBWire<Port100Frame>) throws(PaSoRiError) {
        let answer = try exchange(Self.bytes(.setCommandType, [0x01]), over: wire, within: Self.commandTime)
        guard answer == [0x00] else { throw .damaged }
    }
}
