// SPDX-License-Identifier: Apache-2.0

extension PaSoRiModel {
    /// Every kind of PaSoRi that Kazasu drives, one row each, the older first.
    static let all: [PaSoRiModel] = [rcs380]

    /// The RC-S380, "NFC Port-100".
    ///
    /// Source of the numbers: the kernel's `drivers/nfc/port100.c` and nfcpy.
    static let rcs380 = PaSoRiModel(
        kind: "rcs380", products: [0x06C1: "Sony RC-S380/S", 0x06C3: "Sony RC-S380/P"], interfaceClass: 0xFF,
        open: Port100Reader.init(_:_:_:))
}
