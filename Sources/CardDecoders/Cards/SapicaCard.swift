// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// SAPICA, Sapporo.
//
// The transit format in a system of its own: the open services are those of system 0003 (felica-tool, Metrodroid). Agreed
// by these; no dump of a real card was published.
//
// One source (TRETJapanNFCReader): points in BA4B, bytes 0 to 2, little-endian.

extension CyberneticsDecoder {
    /// SAPICA of system 865E.
    public static let sapica = CyberneticsDecoder(
        id: "sapica", name: LocalizedText("SAPICA", "SAPICA"), system: SystemCode(rawValue: 0x865E),
        points: ServiceCode(rawValue: 0xBA4B))
}
