// SPDX-License-Identifier: Apache-2.0

import CommandDescription
package import Kazasu

/// A station as `0-3-13`, or a bus stop as `0C4F-0000`.
package struct PlaceArgument: ExpressibleByArgument, Equatable, Sendable {
    package var code: PlaceCode
    package var text: String

    package init?(argument: String) {
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

/// What `stations lookup` looks for: a code, or any other text as a name.
package enum PlaceQuery: ExpressibleByArgument, Equatable, Sendable {
    case code(PlaceArgument)
    case name(String)

    package init?(argument: String) {
        if let code = PlaceArgument(argument: argument) {
            self = .code(code)
        } else if argument.isEmpty || argument.contains(/^[0-9A-Fa-f]*(-[0-9A-Fa-f]*)+$/) {
            // A code with a mistake in it.
            return nil
        } else {
            self = .name(argument)
        }
    }

    package var text: String {
        switch self {
        case .code(let code): code.text
        case .name(let name): name
        }
    }
}
