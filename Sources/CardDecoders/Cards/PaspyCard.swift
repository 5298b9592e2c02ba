// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// PASPY, Hiroshima; the service is closing.
//
// The transit format in a system of its own: the open services are those of system 0003 (felica-tool, Metrodroid). Agreed
// by these; no dump of a real card was published. AF0B to B00B are open and unpublished.

extension CyberneticsDecoder {
    /// PASPY of system 8592.
    public static let paspy = CyberneticsDecoder(
        id: "paspy", name: LocalizedText("PASPY", "PASPY"), system: SystemCode(rawValue: 0x8592))
}
