// SPDX-License-Identifier: Apache-2.0

public import DumpFormats

extension DumpFormatRegistry {
    /// All formats that Kazasu knows, those in XML included.
    public static let complete = DumpFormatRegistry([MetrodroidXMLFormat()] + standard.formats)
}
