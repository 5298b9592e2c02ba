// SPDX-License-Identifier: Apache-2.0

internal import USBTransport

/// A link that carries messages from the reader.
final class USBWire<Message: TransferMessage> {
    private let usb: any USBLink
    private var parser = TransferParser<Message>()
    /// How long the reader may take to accept a transfer.
    private let sendTime: Duration

    /// How long the reader must be quiet to count as having sent everything.
    private static var quietTime: Duration { .milliseconds(10) }
    /// The maximum number of transfers that are discarded before the expected one.
    private static var mostUnwanted: Int { 128 }

    init(_ usb: any USBLink, sendTime: Duration) {
        self.usb = usb
        self.sendTime = sendTime
    }

    /// Sends one transfer.
    func send(_ bytes: [UInt8]) throws(PaSoRiError) {
        do throws(USBError) {
            try usb.send(bytes, within: sendTime)
        } catch {
            throw .usb(error)
        }
    }

    /// Receives messages until one is the expected one.
    ///
    /// - Parameters:
    ///   - time: how long each transfer may take.
    ///   - patience: how long all of them may take together; `time` when it is not given.
    ///   - wanted: makes the result of a message; `nil` for one that is discarded.
    @discardableResult
    func first<Result>(
        within time: Duration, inAll patience: Duration? = nil,
        where wanted: (Message) throws(PaSoRiError) -> Result?
    ) throws(PaSoRiError) -> Result {
        let deadline = ContinuousClock.now + (patience ?? time)
        var transfers = 0
        while true {
            switch parser.next() {
            case .message(let message): if let result = try wanted(message) { return result }
            case .damaged: throw .damaged
            case .incomplete:
                guard transfers < Self.mostUnwanted else { throw .damaged }
                transfers += 1
                parser.feed(try receive(within: max(.zero, min(time, deadline - .now))))
            }
        }
    }

    /// Discards unexpected output of the reader.
    func drain() throws(PaSoRiError) {
        parser.reset()
        for _ in 0..<Self.mostUnwanted {
            do throws(PaSoRiError) {
                _ = try receive(within: Self.quietTime)
            } catch {
                switch error {
                case .usb(.timedOut): return
                case .usb(.overflow), .usb(.stalled): continue
                default: throw error
                }
            }
        }
    }

    private func receive(within time: Duration) throws(PaSoRiError) -> [UInt8] {
        do throws(USBError) {
            return try usb.receive(within: time)
        } catch {
            throw .usb(error)
        }
    }
}
