// SPDX-License-Identifier: Apache-2.0

@_exported public import CardDecoders
@_exported public import CardModel
internal import DumpFormats

/// The cards in a dump file, of any format that Kazasu reads without a C library: its own, and those of other tools.
///
/// - Throws: ``DocumentError`` with the place, when no format fits or the file is damaged.
public func readDumps(_ bytes: [UInt8]) throws(DocumentError) -> [CardDump] {
    try DumpFormatRegistry.standard.read(bytes).dumps
}

extension CardDump {
    /// What the decoders of Kazasu make of the dump: one report for each kind of card that it is, in their order.
    ///
    /// - Parameter stations: where names of stations and stops are looked up; codes are reported in any case.
    public func reports(stations: any StationNames = NoStationNames()) -> [CardReport] {
        DecoderRegistry.standard.recognising(self).compactMap { try? $0.decode(self, stations: stations) }
    }
}
