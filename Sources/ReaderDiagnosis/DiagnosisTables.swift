// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The tables of this module.
public enum DiagnosisTables {
    /// What is wrong in them, by the name of the file; a release has no faults.
    public static var faults: [String: [TableFault]] {
        ["checks.tsv": CheckRow.table.faults, "firmware-faults.tsv": FirmwareFault.table.faults]
            .filter { !$0.value.isEmpty }
    }
}
