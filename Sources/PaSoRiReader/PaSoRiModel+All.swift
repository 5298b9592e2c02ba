// SPDX-License-Identifier: Apache-2.0

extension PaSoRiModel {
    /// Every kind of PaSoRi that Kazasu drives, one row each, the older first.
    static let all: [PaSoRiModel] = [rcs380, rcs300]

    /// The RC-S380, "NFC Port-100".
    ///
    /// Source of the numbers: the kernel's `drivers/nfc/port100.c` and nfcpy.
    static let rcs380 = PaSoRiModel(
        kind: "rcs380", products: [0x06C1: "Sony RC-S380/S", 0x06C3: "Sony RC-S380/P"], interfaceClass: 0xFF,
        open: Port100Reader.init(_:_:_:))

    /// The RC-S300 and the RC-S660/U, "NFC Port-400". Its other interface, for chip cards, may stay pcscd's.
    ///
    /// Source of the numbers: libccid's `readers/SONY_*.txt` and felica-rs.
    static let rcs300 = PaSoRiModel(
        kind: "rcs300",
        products: [0x0DC8: "Sony RC-S300/S", 0x0DC9: "Sony RC-S300/P", 0x0D8F: "Sony RC-S660/U"],
        interfaceClass: 0xFF, open: Port400Reader.init(_:_:_:))
}
