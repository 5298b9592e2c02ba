// SPDX-License-Identifier: Apache-2.0

import NFCTransport
import VirtualReader

/// A reader together with the simulated chip behind it.
final class VirtualChipReader: Reader {
    let information: ReaderInformation
    private let reader: any Reader
    private let server: PN532Server

    init(id: String, reader: any Reader, server: PN532Server) {
        self.reader = reader
        self.server = server
        var information = reader.information
        information.id = id
        information.name = "virtual PN532"
        self.information = information
    }

    func activate(_ request: ActivationRequest) throws(TransportError) -> PICC? {
        try reader.activate(request)
    }

    func transceive(_ frame: [UInt8], timeout: Duration) throws(TransportError) -> [UInt8] {
        try reader.transceive(frame, timeout: timeout)
    }

    func close() {
        reader.close()
        server.stop()
    }
}
