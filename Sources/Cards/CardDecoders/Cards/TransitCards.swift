// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// Suica, PASMO, ICOCA, Kitaca, TOICA, manaca, PiTaPa, SUGOCA, nimoca, Hayakaken, icsca and the regional cards that
// share system 0003.
//
// Certain (real dumps): balance, history, serial, region byte, gate log, station of the entry record. Agreed by
// independent decoders: most codes. One source (suica-viewer): commuter fare, intermediate gates, 184B. The brand
// cannot be determined from the open services alone: only the list of all services can decide it.

extension CardKind {
    /// Transit IC.
    public static let transit = CardKind(rawValue: "transit")
    /// IruCa.
    public static let iruca = CardKind(rawValue: "iruca")
    /// PASPY.
    public static let paspy = CardKind(rawValue: "paspy")
    /// SAPICA.
    public static let sapica = CardKind(rawValue: "sapica")
    /// Setamaru.
    public static let setamaru = CardKind(rawValue: "setamaru")
    /// Saitama Railway.
    public static let saitama = CardKind(rawValue: "saitama")
}

// The others have the transit format in a separate system: the open services are those of system 0003 (felica-tool,
// Metrodroid). Agreed by these; no dump of a real card was published. The services of Setamaru and Saitama Railway have
// ended, that of PASPY is closing; its AF0B to B00B are open and unpublished. One source (TRETJapanNFCReader): points of
// SAPICA in BA4B, bytes 0 to 2, little-endian.

extension CyberneticsDecoder {
    /// The mutual-use transit cards of system 0003.
    package static let transit = CyberneticsDecoder(
        kind: .transit, name: LocalizedText("Transit IC", "交通系IC"), system: .transit, tellsBrand: true)

    /// IruCa of Takamatsu-Kotohira Electric Railroad.
    package static let iruca = CyberneticsDecoder(
        kind: .iruca, name: LocalizedText("IruCa", "IruCa（イルカ）"), system: SystemCode(rawValue: 0x80DE))

    /// PASPY of Hiroshima.
    package static let paspy = CyberneticsDecoder(
        kind: .paspy, name: LocalizedText("PASPY", "PASPY"), system: SystemCode(rawValue: 0x8592))

    /// SAPICA of Sapporo.
    package static let sapica = CyberneticsDecoder(
        kind: .sapica, name: LocalizedText("SAPICA", "SAPICA"), system: SystemCode(rawValue: 0x865E),
        points: ServiceCode(rawValue: 0xBA4B))

    /// Setamaru of Tokyu Setagaya Line.
    package static let setamaru = CyberneticsDecoder(
        kind: .setamaru, name: LocalizedText("Setamaru", "せたまる"), system: SystemCode(rawValue: 0x802B))

    /// The card of Saitama Railway.
    package static let saitama = CyberneticsDecoder(
        kind: .saitama, name: LocalizedText("Saitama Railway", "埼玉高速鉄道"), system: SystemCode(rawValue: 0x8029))
}
