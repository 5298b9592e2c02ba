// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// Setamaru, Tokyu Setagaya Line; its service has ended.
//
// The transit format in a system of its own: the open services are those of system 0003 (felica-tool, Metrodroid). Agreed
// by these; no dump of a real card was published.

extension CyberneticsDecoder {
    /// Setamaru of system 802B.
    public static let setamaru = CyberneticsDecoder(
        id: "setamaru", name: LocalizedText("Setamaru", "せたまる"), system: SystemCode(rawValue: 0x802B))
}
