// SPDX-License-Identifier: Apache-2.0

/// A refusal: silence, or status flag 2 and the place in the list that it belongs to, if any.
enum Refusal: Error {
    case silence
    /// Both flags as they are.
    case literal(UInt16)
    /// Status flag 2 and the place, counted from 0; `nil` when the error belongs to none.
    case coded(UInt8, place: Int?)

    init(_ code: UInt8, at place: Int? = nil) {
        self = .coded(code, place: place)
    }

    /// The same at a place in a list.
    func at(_ place: Int) -> Refusal {
        if case .coded(let code, _) = self { .coded(code, place: place) } else { self }
    }

    /// Status flags 1 and 2; `nil` for silence.
    func flags(_ style: StatusStyle) -> [UInt8]? {
        switch self {
        case .silence: nil
        case .literal(let flags): [UInt8(truncatingIfNeeded: flags >> 8), UInt8(truncatingIfNeeded: flags)]
        case .coded(let code, let place): [place.map(style.flag) ?? 0xFF, code]
        }
    }
}
