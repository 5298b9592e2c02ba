// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// Suica, PASMO, ICOCA, Kitaca, TOICA, manaca, PiTaPa, SUGOCA, nimoca, Hayakaken, icsca and the regional cards that
// share system 0003.
//
// Certain (real dumps): balance, history, serial, region byte. Agreed by independent decoders: most codes.
// Which of the brands it is cannot be told from the open services alone, so no brand is named.

extension CyberneticsDecoder {
    /// The mutual-use transit cards of system 0003.
    public static let transit = CyberneticsDecoder(
        id: "transit", name: LocalizedText("Transit IC", "交通系IC"), system: .transit)
}
