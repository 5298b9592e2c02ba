// SPDX-License-Identifier: Apache-2.0

internal import ReaderCore
internal import SystemDevices
internal import USBTransport

/// Resets the chip of an RC-S330, RC-S360 or RC-S370 to its initial mode, bypassing libnfc, while that has it not open.
///
/// Without the reset, the next program that opens the reader after a FeliCa card was found fails: the chip answers
/// SetParameters with its error frame (libnfc issue 278) until the reader is unplugged (issues 515 and 546). libnfc's
/// own ResetMode, which it sends while it opens the reader, does not help. nfcpy (`rcs956.py`) and felica-rs send
/// ResetMode before and after all work, acknowledge the answer and wait.
struct RCS956Reset: Sendable {
    typealias LinkMaker = @Sendable (USBDevice) throws(TransportError) -> any USBLink

    /// The reader's USB device.
    let device: USBDevice
    private let makeLink: LinkMaker
    private let pause: @Sendable (Duration) -> Void

    private static let (vendor, product): (UInt16, UInt16) = (0x054C, 0x02E1)
    private static let acknowledge: [UInt8] = [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00]
    /// ResetMode 1 and its answer.
    private static let command: [UInt8] = [0x00, 0x00, 0xFF, 0x03, 0xFD, 0xD4, 0x18, 0x01, 0x13, 0x00]
    private static let answer: [UInt8] = [0x00, 0x00, 0xFF, 0x02, 0xFE, 0xD5, 0x19, 0x12, 0x00]
    /// How long the chip needs afterwards.
    private static let settlingTime = Duration.milliseconds(10)
    private static let quietTime = Duration.milliseconds(10)
    private static let answerTime = Duration.milliseconds(250)
    /// The maximum number of other transfers that are discarded before the expected one.
    private static let mostUnwanted = 8

    /// - Returns: `nil` for readers with another chip.
    init?(of device: USBDevice) {
        guard device.vendor == Self.vendor, device.product == Self.product else { return nil }
        self.init(device, pause: ThreadPause.sleep) { device throws(TransportError) in
            try LibUSBLink(device, classCode: 0xFF, cancellation: CancellationToken())
        }
    }

    init(_ device: USBDevice, pause: @escaping @Sendable (Duration) -> Void, makeLink: @escaping LinkMaker) {
        self.device = device
        self.pause = pause
        self.makeLink = makeLink
    }

    /// Resets the chip. Anything that prevents this will also fail in libnfc when it opens the reader.
    ///
    /// - Returns: whether the chip has answered.
    @discardableResult
    func run() -> Bool {
        guard let link = try? makeLink(device) else { return false }
        defer { link.close() }
        return (try? Self.run(over: link, pause)) ?? false
    }

    private static func run(
        over link: any USBLink, _ pause: (Duration) -> Void
    ) throws(USBError) -> Bool {
        // Aborts a pending command of a killed program.
        try link.send(acknowledge, within: answerTime)
        for _ in 0..<mostUnwanted {
            do throws(USBError) {
                _ = try link.receive(within: quietTime)
            } catch {
                guard error == .timedOut else { throw error }
                break
            }
        }
        try link.send(command, within: answerTime)
        var received: [UInt8] = []
        for _ in 0..<mostUnwanted {
            received += try link.receive(within: answerTime)
            // The acknowledgement may come in the same transfer.
            guard received.suffix(answer.count) == answer[...] else { continue }
            try link.send(acknowledge, within: answerTime)
            pause(settlingTime)
            return true
        }
        return false
    }

    /// Resets the reader on its port.
    ///
    /// - Returns: the same for the reader as found afterwards, possibly under another number; `nil` when it is gone.
    func replug(_ paths: SystemPaths) -> RCS956Reset? {
        guard device.reset() else { return self }
        return USBDevice.all(paths).first { $0.portPath == device.portPath }.map {
            RCS956Reset($0, pause: pause, makeLink: makeLink)
        }
    }
}
