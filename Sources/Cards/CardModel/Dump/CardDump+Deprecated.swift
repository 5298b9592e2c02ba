// SPDX-License-Identifier: Apache-2.0

/// The names of version 0.3, for one more version.
extension CardDump {
    /// Whether everything that can be read without a key was read.
    @available(*, deprecated, renamed: "isComplete")
    public var complete: Bool {
        get { isComplete }
        set { isComplete = newValue }
    }

    /// Makes a dump of blocks of a FeliCa card.
    @available(*, deprecated, renamed: "init(idm:pmm:systems:)")
    public init(felica idm: IDm, _ pmm: PMm, systems: [SystemCode: [ServiceCode: [Block]]]) {
        self.init(idm: idm, pmm: pmm, systems: systems)
    }

    /// Makes a dump of files of an ISO 7816 card.
    @available(*, deprecated, renamed: "init(card:files:)")
    public init(iso7816 card: CardIdentity, files: [AID: [FileIdentifier: [UInt8]]]) {
        self.init(card: card, files: files)
    }

    /// Makes a dump of the memory of a Type 2 Tag.
    @available(*, deprecated, renamed: "init(card:memory:)")
    public init(type2 card: CardIdentity, memory: [UInt8]) {
        self.init(card: card, memory: memory)
    }
}
