// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel

/// Makes a report of a dump of a My Number card. It never talks to a card, and no bytes can make it trap.
public enum MyNumberDecoder {
    /// Whether a dump is of such a card.
    public static func recognises(_ dump: CardDump) -> Bool {
        MyNumberApplication.allCases.contains { application in
            application.aid.map { dump.application($0) != nil } ?? false
        }
    }

    /// All that a dump of a My Number card says; `nil` when it is of another card.
    public static func decode(_ dump: CardDump) -> MyNumberReport? {
        guard recognises(dump) else { return nil }
        var report = MyNumberReport(pins: [:], certificates: [:], withheld: [], faults: [])
        for file in MyNumberFile.allCases {
            guard let found = application(file.application, dump)?.file(file.id) else { continue }
            switch found.state {
            case .read: report.add(file, found.data)
            case .keyRequired: report.withheld.append(file)
            case .refused(let status): report.faults.append(MyNumberFault(file: file, reason: .refused(status)))
            case .lost: report.faults.append(MyNumberFault(file: file, reason: .lost))
            case .skipped: break
            }
        }
        for pin in MyNumberPIN.allCases {
            let file = application(pin.application, dump)?.file(pin.file)
            if let file, file.extra["triesLeft"] != nil { report.pins[pin] = CardPINState(file) }
        }
        return report
    }

    private static func application(_ application: MyNumberApplication, _ dump: CardDump) -> ApplicationDump? {
        application.aid.flatMap { dump.application($0) }
    }
}

extension MyNumberReport {
    fileprivate mutating func add(_ file: MyNumberFile, _ data: [UInt8]) {
        func fault(_ reason: MyNumberFault.Reason) -> MyNumberFault { MyNumberFault(file: file, reason: reason) }
        switch file {
        case .token:
            token = CardText.ascii(data)
            if token == nil { faults.append(fault(.notWhatItShouldBe)) }
        case .attributes:
            attributes = MyNumberAttributes(data)
            guard let attributes else {
                faults.append(fault(.notWhatItShouldBe))
                return
            }
            faults += attributes.flaws.map { fault(.item($0)) }
        case .cardInputInformation: break
        case .authenticationCertificate, .authenticationCA, .signatureCertificate, .signatureCA:
            guard let der = MyNumberReport.certificate(data) else {
                faults.append(fault(.notWhatItShouldBe))
                return
            }
            certificates[file] = der
        }
    }

    /// The one data object that the file begins with, a SEQUENCE, without what may follow it.
    private static func certificate(_ data: [UInt8]) -> [UInt8]? {
        guard data.first == 0x30, let header = try? BERHeader(data), header.totalLength <= data.count,
            header.length > 0
        else { return nil }
        return Array(data.prefix(header.totalLength))
    }
}
