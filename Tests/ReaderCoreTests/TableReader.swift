// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore

/// One Polling: the system code and the speed.
struct Polling: Hashable, Sendable {
    var system: UInt16
    var bitRate: Int

    init(_ system: UInt16, _ bitRate: Int) {
        self.system = system
        self.bitRate = bitRate
    }
}

/// A reader that answers Pollings from a table of IDm and notes what it was asked.
final class TableReader: Reader {
    let information: ReaderInformation
    let answering: [Polling: UInt64]
    var failure: TransportError?
    private(set) var polled: [Polling] = []

    init(answering: [Polling: UInt64], bitRates: [FeliCaBitRate] = [.kbps212, .kbps424]) {
        self.answering = answering
        information = ReaderInformation(id: "table", name: "table", feliCaBitRates: bitRates)
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        guard case .felica(let system, let requestCode, let timeSlots, let bitRate) = request else { return nil }
        let polling = Polling(system.rawValue, bitRate.rawValue)
        polled.append(polling)
        if let failure { throw failure }
        return answering[polling].map {
            .felica(
                FeliCaTarget(
                    idm: IDm(rawValue: $0), pmm: PMm(rawValue: 0),
                    requestData: UInt16(requestCode) << 8 | UInt16(timeSlots), bitRate: bitRate))
        }
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        throw .noAnswer
    }

    func close() {}
}
