// SPDX-License-Identifier: Apache-2.0

/// What a host asks for with Transparent Exchange: the data objects between `FF 50 00 01 00 LEN` and the last three zeros.
struct Port400Exchange: Sendable {
    var microseconds: Int?
    var flags: UInt16?
    /// How many bits of the last byte are sent; 0 for all.
    var lastByteBits = 0
    var frame: [UInt8]?

    /// `nil` when lengths do not fit or an object is not known.
    init?(_ command: [UInt8]) {
        guard command.count >= 10, command[4] == 0 else { return nil }
        let length = Int(command[5]) << 8 | Int(command[6])
        guard command.count == 7 + length + 3, command.suffix(3).allSatisfy({ $0 == 0 }) else { return nil }
        var rest = command[7..<7 + length]
        while let tag = rest.popFirst() {
            switch tag {
            case 0x5F:
                guard rest.popFirst() == 0x46, let value = Self.take(&rest), value.count == 4 else { return nil }
                microseconds = value.reversed().reduce(0) { $0 << 8 | Int($1) }
            case 0x90:
                guard let value = Self.take(&rest), value.count == 2 else { return nil }
                flags = UInt16(value[0]) << 8 | UInt16(value[1])
            case 0x91:
                guard let value = Self.take(&rest), value.count == 1, value[0] < 8 else { return nil }
                lastByteBits = Int(value[0])
            case 0x95:
                guard let value = Self.take(&rest), !value.isEmpty else { return nil }
                frame = value
            default: return nil
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
