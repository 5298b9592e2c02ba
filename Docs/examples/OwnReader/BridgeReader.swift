// SPDX-License-Identifier: Apache-2.0

import Kazasu

/// A reader behind a link that carries one FeliCa packet at a time: a microcontroller on a serial line, a phone, a socket.
final class BridgeReader: Reader {
    let information = {
        var information = ReaderInformation(id: "bridge", name: "FeliCa bridge", feliCaBitRates: [.kbps212])
        // The link passes on whole answers only.
        information.hearsFailures = false
        return information
    }()
    private let link: ([UInt8], Duration) -> [UInt8]?
    private let cancellation: CancellationToken
    private var isOpen = true

    init(cancellation: CancellationToken, link: @escaping ([UInt8], Duration) -> [UInt8]?) {
        self.cancellation = cancellation
        self.link = link
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        guard case .felica(let system, let requestCode, let timeSlots, let bitRate) = request else {
            throw .unsupported(detail: .init(.thisKindOfCard))
        }
        let polling = FeliCaPolling(system, requestCode: requestCode, timeSlots: timeSlots)
        let target = try polling.look(at: bitRate) { frame, time throws(TransportError) in
            try transceive(frame, timeout: time)
        }
        return target.map { .felica($0) }
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try cancellation.check()
        guard isOpen else { throw .closed }
        guard frame.count <= 255 else { throw .frameTooLong(length: frame.count, limit: 255) }
        guard let answer = link(frame, timeout) else { throw .noAnswer }
        return answer
    }

    func close() { isOpen = false }
}
