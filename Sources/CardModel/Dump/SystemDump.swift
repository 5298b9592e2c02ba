// SPDX-License-Identifier: Apache-2.0

/// One FeliCa system of a dump.
public struct SystemDump: Hashable, Sendable {
    /// Its code.
    public var systemCode: SystemCode
    /// Its own IDm.
    public var idm: IDm
    /// The PMm that it answered with.
    public var pmm: PMm
    /// Its areas in the card's order.
    public var areas: [AreaDump]
    /// Its services in the card's order.
    public var services: [ServiceDump]
    /// Members of the document that this version does not know.
    public var extra: JSONObject

    /// A system with what was found in it.
    public init(
        systemCode: SystemCode, idm: IDm, pmm: PMm, areas: [AreaDump] = [], services: [ServiceDump] = [],
        extra: JSONObject = JSONObject()
    ) {
        self.systemCode = systemCode
        self.idm = idm
        self.pmm = pmm
        self.areas = areas
        self.services = services
        self.extra = extra
    }

    /// The service with this code.
    public func service(_ code: ServiceCode) -> ServiceDump? {
        services.first { $0.code == code }
    }
}
