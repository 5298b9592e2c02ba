// SPDX-License-Identifier: Apache-2.0

internal import VirtualReader

/// A host's request for a Transparent Exchange.
struct Port400Exchange: Sendable {
    /// The reason for a refusal by a reader: the number of the wrong object, and its status word.
    struct StatusError: Error {
        let object: Int
        let status: UInt16
    }

    private(set) var microseconds = 0
    private(set) var flags: UInt16?
    /// The number of bits of the last byte that are sent, 0 for all; `nil` when the host does not specify it.
    private(set) var lastByteBits: Int?
    private(set) var frame: [UInt8] = []
    /// The number of the object with the frame, counted from 1.
    private(set) var frameObject = 0

    /// Parses the data objects.
    ///
    /// As observed on an RC-S300 (EspUsbHost): a frame without a timer before it is 6401 of the first object, one of
    /// the wrong length 6700, an unknown one 6A81.
    init(_ objects: [UInt8]) throws(StatusError) {
        var rest = objects[...]
        var number = 0
        var hasTimer = false
        while let tag = rest.popFirst() {
            number += 1
            let second = tag & 0x1F == 0x1F ? rest.popFirst() : 0
            guard let value = Self.take(&rest) else { throw StatusError(object: number, status: 0x6A80) }
            switch (tag, second, value.count) {
            case (0x5F, 0x46, 4):
                hasTimer = true
                microseconds = value.reversed().reduce(0) { $0 << 8 | Int($1) }
            case (0x90, 0, 2): flags = UInt16(value[0]) << 8 | UInt16(value[1])
            case (0x91, 0, 1) where value[0] < 8: lastByteBits = Int(value[0])
            case (0x95, 0, 1...):
                guard hasTimer else { throw StatusError(object: 1, status: 0x6401) }
                frame = value
                frameObject = number
            case (0x5F, 0x46, _), (0x90, 0, _), (0x91, 0, _), (0x95, 0, _):
                throw StatusError(object: number, status: 0x6700)
            default: throw StatusError(object: number, status: 0x6A81)
            }
        }
    }

    private static func take(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first == 0x82 {
            guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
            length = Int(high) << 8 | Int(low)
        } else if first >= 0x80 {
            return nil
        }
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return Array(rest.prefix(length))
    }
}
