// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// The card of Saitama Railway; its service has ended.
//
// The transit format in a system of its own: the open services are those of system 0003 (felica-tool, Metrodroid). Agreed
// by these; no dump of a real card was published.

extension CyberneticsDecoder {
    /// The card of system 8029.
    public static let saitama = CyberneticsDecoder(
        id: "saitama", name: LocalizedText("Saitama Railway", "埼玉高速鉄道"), system: SystemCode(rawValue: 0x8029))
}
