// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardDecoders

/// A station as `0-3-13`, or a bus stop as `0C4F-0000`.
struct PlaceArgument: ExpressibleByArgument, Equatable, Sendable {
    var code: PlaceCode
    var text: String

    init?(argument: String) {
        text = argument
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
        if parts.count == 3 {
            let numbers = parts.compactMap { UInt8($0) }
            guard numbers.count == 3 else { return nil }
            code = .station(StationCode(area: numbers[0], line: numbers[1], station: numbers[2]))
        } else if parts.count == 2, parts.allSatisfy({ $0.utf8.count == 4 }),
            let operatorCode = UInt16(parts[0], radix: 16),
            let stop = UInt16(parts[1], radix: 16)
        {
            code = .busStop(BusStopCode(area: 0, operatorCode: operatorCode, stop: stop))
        } else {
            return nil
        }
    }
}
