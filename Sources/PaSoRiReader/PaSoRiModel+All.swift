// SPDX-License-Identifier: Apache-2.0

extension PaSoRiModel {
    /// Every kind of PaSoRi that Kazasu drives, one row each, the older first; the products of each are in the table of
    /// `SystemDevices`.
    static let all: [PaSoRiModel] = [rcs380, rcs300]

    /// The RC-S380, "NFC Port-100".
    static let rcs380 = PaSoRiModel(
        kind: "rcs380", interfaceClass: 0xFF, open: Port100Reader.init(_:_:_:))

    /// The RC-S300 and the RC-S660/U, "NFC Port-400". Its other interface, for chip cards, may stay pcscd's.
    static let rcs300 = PaSoRiModel(
        kind: "rcs300", interfaceClass: 0xFF, open: Port400Reader.init(_:_:_:))
}
