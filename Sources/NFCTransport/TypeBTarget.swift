// SPDX-License-Identifier: Apache-2.0

/// A card of ISO 14443 type B as it was selected; frames to it are APDUs, which the reader carries by ISO-DEP.
public struct TypeBTarget: Hashable, Sendable {
    /// The PUPI, four bytes, which many cards choose anew at each activation; `nil` when the reader does not tell.
    public var pupi: [UInt8]?
    /// The application data of the ATQB, four bytes; `nil` when the reader does not tell.
    public var applicationData: [UInt8]?
    /// The protocol info of the ATQB, three or four bytes; `nil` when the reader does not tell.
    public var protocolInfo: [UInt8]?

    /// A card of type B.
    public init(pupi: [UInt8]? = nil, applicationData: [UInt8]? = nil, protocolInfo: [UInt8]? = nil) {
        self.pupi = pupi
        self.applicationData = applicationData
        self.protocolInfo = protocolInfo
    }
}
