// SPDX-License-Identifier: Apache-2.0

import ReaderCore

/// A reader whose exchanges with these numbers, counted from 1, get damaged answers.
final class TroubledReader: Reader {
    var troubles: Set<Int> = []
    private(set) var count = 0
    private let reader: any Reader

    init(_ reader: any Reader) {
        self.reader = reader
    }

    var information: ReaderInformation { reader.information }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? { try reader.activate(request) }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        count += 1
        let answer = try reader.transceive(frame, timeout: timeout)
        if troubles.contains(count) { throw .corrupted(status: 0) }
        return answer
    }

    func close() { reader.close() }
}
