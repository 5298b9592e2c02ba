// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// An area or a service of a virtual card.
public struct VirtualNode: Hashable, Sendable {
    /// Its code.
    public let code: NodeCode
    /// The last code that belongs to it when it is an area; `nil` for a service.
    public let end: AreaCode?
    /// The version of its key.
    public var keyVersion: KeyVersion
    /// What Get Node Property answers, by type (00: ten bytes, 01: one byte); by default all FF (no limits on the
    /// purse) and 00 (no MAC).
    public var properties: [UInt8: [UInt8]] = [:]
    /// The two bytes that Get Area Information answers beside the code.
    public var information: [UInt8] = [0, 0]
    /// What every read and write of this service gets, as a dump noted it; `nil` for an ordinary service.
    public var refusal: ServiceRefusal?

    /// A service.
    public init(service: ServiceCode, keyVersion: KeyVersion = KeyVersion(rawValue: 0)) {
        code = service.node
        end = nil
        self.keyVersion = keyVersion
    }

    /// An area.
    public init(area: AreaCode, end: AreaCode, keyVersion: KeyVersion = KeyVersion(rawValue: 0)) {
        code = area.node
        self.end = end
        self.keyVersion = keyVersion
    }

    /// Whether it is an area.
    public var isArea: Bool { end != nil }

    /// Its code as that of a service; `nil` for an area.
    public var service: ServiceCode? { isArea ? nil : ServiceCode(rawValue: code.rawValue) }

    /// The codes that belong to it: its own for a service.
    var codes: ClosedRange<UInt16> {
        let last = end?.rawValue ?? code.rawValue
        return code.rawValue...max(code.rawValue, last)
    }
}
