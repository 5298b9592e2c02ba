// SPDX-License-Identifier: Apache-2.0

/// Which chip of the family a simulated one is.
enum PN53xModel: Sendable {
    /// NXP's PN532, as on boards and in an ACR122U.
    case pn532
    /// NXP's PN533, as in an SCL3711.
    case pn533
    /// Sony's RC-S956, the chip of the RC-S330, RC-S360 and RC-S370.
    case rcs956

    /// What GetFirmwareVersion answers: IC, version, revision, and what is supported.
    ///
    /// Of the PN533 as in libnfc issue 617. Of the RC-S956 as nfcpy's tests have it (`test_clf_rcs956.py`); libnfc knows it by the 33 01.
    var firmwareVersion: [UInt8] {
        switch self {
        case .pn532: [0x32, 0x01, 0x06, 0x07]
        case .pn533: [0x33, 0x02, 0x07, 0x07]
        case .rcs956: [0x33, 0x01, 0x30, 0x07]
        }
    }

    /// Whether ReadRegister and WriteRegister answer with a status first (libnfc issue 617).
    var givesRegisterStatus: Bool { self == .pn533 }

    /// Whether the chip knows a command that not all of the family know.
    ///
    /// After libnfc's table of commands (`libnfc/chips/pn53x.c`): SAMConfiguration, PowerDown and InAutoPoll are the
    /// PN532's own, and 18 puts an RC-S956 into another mode.
    func knows(_ code: UInt8) -> Bool {
        switch code {
        case 0x14, 0x16, 0x60: self == .pn532
        case 0x18: self == .rcs956
        default: true
        }
    }
}
