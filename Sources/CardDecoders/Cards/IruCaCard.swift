// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// IruCa, Takamatsu-Kotohira Electric Railroad.
//
// The transit format in a system of its own: the open services are those of system 0003 (felica-tool, Metrodroid). Agreed
// by these; no dump of a real card was published.

extension CyberneticsDecoder {
    /// IruCa of system 80DE.
    public static let iruca = CyberneticsDecoder(
        id: "iruca", name: LocalizedText("IruCa", "IruCa（イルカ）"), system: SystemCode(rawValue: 0x80DE))
}
