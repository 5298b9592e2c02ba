// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// One system of the card in the field, as it answered its own Polling.
public struct SystemHandle: Hashable, Sendable {
    /// Its code.
    public var code: SystemCode
    /// Its own IDm.
    public var idm: IDm
    /// The PMm that it answered with.
    public var pmm: PMm

    /// A system that answered.
    public init(code: SystemCode, idm: IDm, pmm: PMm) {
        self.code = code
        self.idm = idm
        self.pmm = pmm
    }
}
