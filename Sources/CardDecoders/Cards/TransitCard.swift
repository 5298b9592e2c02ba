// SPDX-License-Identifier: Apache-2.0

internal import CardModel

// Suica, PASMO, ICOCA, Kitaca, TOICA, manaca, PiTaPa, SUGOCA, nimoca, Hayakaken, icsca and the regional cards that
// share system 0003.
//
// Certain (real dumps): balance, history, serial, region byte, gate log, station of the entry record. Agreed by
// independent decoders: most codes. One source (suica-viewer): commuter fare, intermediate gates, 184B.
// Which of the brands it is cannot be told from the open services alone: the list of all services decides, or nothing.

extension CyberneticsDecoder {
    /// The mutual-use transit cards of system 0003.
    public static let transit = CyberneticsDecoder(
        id: "transit", name: LocalizedText("Transit IC", "交通系IC"), system: .transit, tellsBrand: true)
}
