// SPDX-License-Identifier: Apache-2.0

import CardModel

/// The open services whose blocks hold a card number or a holder's name, one row a service.
///
/// Sources: the layouts of TRETJapanNFCReader, felica2money and the field notes of the public decoders.
enum PersonalServices {
    private static let rows: [(system: UInt16, service: UInt16)] = [
        (0xFE00, 0x110B),  // Edy: number
        (0xFE00, 0x558B),  // nanaco: number
        (0xFE00, 0x684F),  // WAON: number
        (0xFE00, 0x67CF),  // WAON: id
        (0xFE00, 0x50CB),  // Univ. Co-op: membership number
        (0xFE00, 0x7B8B),  // Rakuten Point: id
        (0xFE00, 0x1A8B),  // FCF: id and name
        (0xFE00, 0x35CB),  // QUICPay: card data
        (0xFE00, 0x360B),  // QUICPay: profiles
        (0x8B61, 0x100B),  // membership: holder
        (0x8182, 0x100B), (0x8182, 0x104B),  // ANA QUICPay: id, holder
        (0x8CC1, 0x100B), (0x8CC1, 0x104B),  // Speedpass: id, holder
        (0x0447, 0x020B),  // Gifu University: student id
        (0x9373, 0x100B), (0x90B7, 0x300B), (0x9450, 0x100B),  // Jakarta, Ho Chi Minh City: ids
        (0x832C, 0x804B), (0x8B5D, 0x804B),  // ecomyca, passca, Ryuto: number
    ]

    static func contains(_ system: SystemCode, _ service: ServiceCode) -> Bool {
        rows.contains { $0.system == system.rawValue && $0.service == service.rawValue }
    }

    /// Whether the service is personal in any system, where the system is not known.
    static func contains(_ service: ServiceCode) -> Bool {
        rows.contains { $0.service == service.rawValue }
    }
}
