// SPDX-License-Identifier: Apache-2.0

package import NFCTransport

/// What every reader must do when it is asked whether a card in ISO-DEP is still there: the answer is right, and the file
/// that was selected stays selected.
///
/// - Returns: what went wrong, one sentence each.
/// - Throws: what the stage throws.
package func presenceBreaches(_ reader: any Reader, _ stage: ConformanceStage) throws -> [String] {
    let log = ConformanceLog()
    func presence(_ expected: Bool?, _ what: String) {
        log.expect(.success(expected), what) { () throws(TransportError) in try reader.isCardPresent() }
    }
    func send(_ frame: [UInt8], _ answer: [UInt8], _ what: String) {
        log.expect(.success(answer), what) { () throws(TransportError) in
            try reader.transceive(frame, timeout: .seconds(5))
        }
    }
    for request in [ActivationRequest.typeA(), .typeB()] {
        guard let card = ISO14443Card.files(request.technology) else { continue }
        presence(nil, "\(request.technology): no card was selected")
        try stage.place(card)
        log.expect(.success(true), "\(request.technology): is found") { () throws(TransportError) in
            try reader.activate(request) != nil
        }
        presence(true, "\(request.technology): at once")
        send([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01], [0x90, 0x00], "\(request.technology): selects a file")
        // After a block of each number.
        for count in [5, 6, 7] as [UInt8] {
            for _ in 0..<2 { presence(true, "\(request.technology): after \(count) bytes") }
            send(
                [0x00, 0xB0, 0x00, 0x00, count], ISO14443Card.content.prefix(Int(count)) + [0x90, 0x00],
                "\(request.technology): the file is still selected")
        }
        try stage.clear()
        presence(false, "\(request.technology): it left")
        log.expect(.success(false), "\(request.technology): it left, and is not found") { () throws(TransportError) in
            try reader.activate(request) != nil
        }
    }
    return log.breaches
}
