// SPDX-License-Identifier: Apache-2.0

/// What a SELECT asks to be told of the file: bits 4 and 3 of P2.
public enum SelectAnswer: UInt8, Hashable, Sendable, CaseIterable {
    /// File control information, template 6F.
    case fileControlInformation = 0x00
    /// File control parameters, template 62.
    case fileControlParameters = 0x04
    /// File management data, template 64.
    case fileManagementData = 0x08
    /// Nothing.
    case nothing = 0x0C
}
