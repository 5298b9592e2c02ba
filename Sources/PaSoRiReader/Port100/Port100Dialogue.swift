// SPDX-License-Identifier: Apache-2.0

internal import NFCTransport
internal import USBTransport

/// Sends commands to a Port-100 and receives their answers.
typealias Port100Link = PaSoRiLink<Port100Dialogue>

extension Port100Link {
    convenience init(_ usb: any USBLink) {
        self.init(usb, Port100Dialogue())
    }

    /// Sends a command and returns the bytes after the answer's code.
    ///
    /// - Parameter time: how long it may take beside the reader's own work.
    func run(
        _ command: Port100Command, _ parameters: [UInt8], within time: Duration = .zero
    ) throws(TransportError) -> [UInt8] {
        try run(Port100Dialogue.bytes(command, parameters), within: time)
    }
}

/// The dialogue with a Port-100: each command is acknowledged before it is answered. An acknowledgement from the host
/// aborts the running command.
struct Port100Dialogue: PaSoRiDialogue {
    static let commandTime = Duration.seconds(1)

    static let farewell = [bytes(.switchRF, [0x00])]

    /// Returns a command in the form for ``PaSoRiLink``.
    static func bytes(_ command: Port100Command, _ parameters: [UInt8]) -> [UInt8] {
        [command.rawValue] + parameters
    }

    /// Returns the bytes after the answer's code.
    func exchange(
        _ command: [UInt8], over wire: USBWire<Port100Frame>, within time: Duration
    ) throws(PaSoRiError) -> [UInt8] {
        try wire.send(Port100Frame.encode([0xD6] + command))
        // Anything before the acknowledgement is older than the command.
        try wire.first(within: Self.commandTime) { $0 == .acknowledge ? true : nil }
        return try wire.first(within: time) { frame throws(PaSoRiError) in
            switch frame {
            // A redundant one.
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
