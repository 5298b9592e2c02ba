// SPDX-License-Identifier: Apache-2.0

package import ReaderCore

extension ReaderConformance {
    /// The question whether a card in ISO-DEP is still there: the answer is right, and the selected file stays selected.
    package static func presence(
        _ reader: any Reader, _ stage: ConformanceStage, _ cancellation: CancellationToken
    ) throws -> ConformanceReport {
        var report = ConformanceReport()
        func presence(_ expected: Bool?, _ name: String) {
            report.expect(.success(expected), name) { () throws(TransportError) in try reader.isCardPresent() }
        }
        func send(_ frame: [UInt8], _ answer: [UInt8], _ name: String) {
            report.expect(.success(answer), name) { () throws(TransportError) in
                try reader.transceive(frame, timeout: .seconds(5))
            }
        }
        for request in [ActivationRequest.typeA(), .typeB()] {
            guard reader.information.technologies.contains(request.technology),
                let card = ConformanceCards.files(request.technology)
            else {
                report.skipped.append("\(request.technology): presence of a card")
                continue
            }
            presence(nil, "\(request.technology): no card was selected")
            try stage.place(card)
            report.expect(.success(true), "\(request.technology): is found") { () throws(TransportError) in
                try reader.activate(request) != nil
            }
            let first = Result { () throws(TransportError) in try reader.isCardPresent() }
            if case .success(nil) = first {
                report.skipped.append("\(request.technology): presence of a card")
                try stage.clear()
                continue
            }
            presence(true, "\(request.technology): present after activation")
            send([0x00, 0xA4, 0x02, 0x0C, 0x02, 0x2F, 0x01], [0x90, 0x00], "\(request.technology): selects a file")
            // After a block of each number.
            for count in [5, 6, 7] as [UInt8] {
                for _ in 0..<2 { presence(true, "\(request.technology): present after \(count) bytes") }
                send(
                    [0x00, 0xB0, 0x00, 0x00, count], ConformanceCards.content.prefix(Int(count)) + [0x90, 0x00],
                    "\(request.technology): the file is still selected")
            }
            try stage.clear()
            presence(false, "\(request.technology): absent after it left")
            report.expect(.success(false), "\(request.technology): not found after it left") {
                () throws(TransportError) in
                try reader.activate(request) != nil
            }
        }
        return report
    }
}
