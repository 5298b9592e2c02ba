// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Decodes the transit cards in the Cybernetics format: balance in 008B, history in 090F, gates in 108F.
///
/// Several systems use the format, so the system is data: ``transit`` is that of system 0003.
/// Sources: TRETJapanNFCReader, Metrodroid, felica2money, suica-viewer, the pages of the felicalib project, and the
/// bytes of published dumps, which decided where they differ.
public struct CyberneticsDecoder: CardDecoder {
    /// The name for scripts.
    public let id: String
    /// The name for people.
    public let name: LocalizedText
    /// Block 0 of service 008B.
    public let balanceRead: ReadRequest
    /// The twenty blocks of service 090F, and block 0 of 008B to check them against.
    public var historyReads: [ReadRequest] { [balanceRead, historyRead] }

    private let historyRead: ReadRequest
    private let gateRead: ReadRequest

    /// A decoder for the cards of one system.
    public init(id: String, name: LocalizedText, system: SystemCode) {
        self.id = id
        self.name = name
        balanceRead = ReadRequest(system: system, service: ServiceCode(rawValue: 0x008B), blocks: 0..<1)
        historyRead = ReadRequest(system: system, service: ServiceCode(rawValue: 0x090F), blocks: 0..<20)
        gateRead = ReadRequest(system: system, service: ServiceCode(rawValue: 0x108F), blocks: 0..<3)
    }

    /// Whether the system holds the balance or the history service.
    public func recognises(_ dump: CardDump) -> Bool {
        dump.holds(balanceRead) || dump.holds(historyRead)
    }

    /// The balance of 008B: bytes 11 and 12, little-endian, yen; checked against the newest history record when the
    /// dump holds it.
    public func balance(_ dump: CardDump) throws(DecodingFailure) -> BalanceReport {
        let attributes = CyberneticsAttributeBlock(
            try dump.block(balanceRead, card: id, field: "balance", offset: 11))
        var report = BalanceReport(balances: [BalanceEntry(card: id, name: name, amount: attributes.balance)])
        if let newest = newestRecord(dump) {
            if newest.balance != attributes.balance { report.warnings.append(.balanceDiffersFromHistory) }
            if newest.serial & 0xFFFF != attributes.transactionNumber {
                report.warnings.append(.transactionsNotInHistory)
            }
        }
        return report
    }

    /// Balance, history, and the gate log of 108F when the dump holds it.
    public func decode(_ dump: CardDump, stations: any StationNames) throws(DecodingFailure) -> CardReport {
        var report = CardReport(card: id, name: name)
        if let service = dump.opened(historyRead) {
            let history = CyberneticsHistory(service, stations)
            report.history = history.records
            report.warnings = history.warnings
        }
        report.gateEvents = dump.opened(gateRead).map { CyberneticsGateLog.events($0) } ?? []
        try report.takeBalance(orFrom: newestRecord(dump)?.balance) { () throws(DecodingFailure) in
            try balance(dump)
        }
        return report
    }

    private func newestRecord(_ dump: CardDump) -> CyberneticsHistoryBlock? {
        dump.opened(historyRead)?.blocks[0].flatMap { CyberneticsHistoryBlock($0) }
    }
}
