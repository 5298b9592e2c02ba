// SPDX-License-Identifier: Apache-2.0

@_exported public import CardDecoders
@_exported public import CardModel
internal import DumpFormats

/// Reads the cards in a dump file of any format that needs no C library: Kazasu's own, and those of other tools.
///
/// - Throws: ``DocumentError`` with the place, when no format fits or the file is damaged.
public func readDumps(_ bytes: [UInt8]) throws(DocumentError) -> [CardDump] {
    try DumpFormatRegistry.standard.read(bytes).dumps
}

extension CardDump {
    /// Decodes the dump with every decoder of Kazasu that recognises it: one report for each, in their order.
    ///
    /// - Parameter stations: where names of stations and stops are looked up; codes are reported in any case.
    public func reports(stations: any StationNames = ShippedStations()) -> [CardReport] {
        DecoderRegistry.standard.recognising(self).compactMap { try? $0.decode(self, stations: stations) }
    }
}
