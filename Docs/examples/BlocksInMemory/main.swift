// SPDX-License-Identifier: Apache-2.0

// Decodes blocks that a program has in memory, read by a phone or by another library: no reader and no file.
import KazasuCards

/// The newest two records of the history (service 090F) of a transit card, as Read Without Encryption returned them.
let records: [[UInt8]] = [
    [0x16, 0x01, 0x00, 0x02, 0x16, 0x6C, 0xE3, 0x3B, 0xE6, 0x21, 0x0A, 0x00, 0x00, 0x01, 0xE3, 0x00],
    [0x16, 0x01, 0x00, 0x02, 0x16, 0x6B, 0xE3, 0x36, 0xE3, 0x38, 0xAA, 0x00, 0x00, 0x01, 0xE1, 0x00],
]

guard let idm = IDm("0101031234567890"), let pmm = PMm("0120220427674eff") else { fatalError("16 digits each") }
let history = ServiceCode(rawValue: 0x090F)
let dump = CardDump(idm: idm, pmm: pmm, systems: [.transit: [history: records.compactMap { Block($0) }]])
for record in try dump.history().history ?? [] {
    print(record.date?.description ?? "-", record.balance.map { "\($0)" } ?? "-")
}
