// SPDX-License-Identifier: Apache-2.0

import ReaderCore

/// A reader that keeps every frame that it was asked to send.
final class SpyReader: Reader {
    private let reader: any Reader
    private(set) var frames: [[UInt8]] = []
    private(set) var answers: [[UInt8]] = []

    init(_ reader: any Reader) { self.reader = reader }

    var information: ReaderInformation { reader.information }

    /// The PINs that were sent: P2 and data of every VERIFY with data.
    var sentPINs: [(p2: UInt8, text: String)] {
        frames.filter { $0.count > 5 && $0[1] == 0x20 }.map { ($0[3], String(decoding: $0[5...], as: UTF8.self)) }
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        frames.append(frame)
        let answer = try reader.transceive(frame, timeout: timeout)
        answers.append(answer)
        return answer
    }

    func close() { reader.close() }
}

/// A reader whose card is gone after some exchanges.
final class LosingReader: Reader {
    private let reader: any Reader
    private var left: Int

    init(_ reader: any Reader, after count: Int) {
        self.reader = reader
        left = count
    }

    var information: ReaderInformation { reader.information }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        guard left > 0 else { throw .noAnswer }
        left -= 1
        return try reader.transceive(frame, timeout: timeout)
    }

    func close() { reader.close() }
}

/// A reader that changes a bit of one answer.
final class ChangingReader: Reader {
    private let reader: any Reader
    private let exchange: Int?
    private var count = 0

    init(_ reader: any Reader, at exchange: Int?) {
        self.reader = reader
        self.exchange = exchange
    }

    var information: ReaderInformation { reader.information }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        var answer = try reader.transceive(frame, timeout: timeout)
        if count == exchange, answer.count > 2 { answer[(answer.count - 2) / 2] ^= 4 }
        count += 1
        return answer
    }

    func close() { reader.close() }
}
