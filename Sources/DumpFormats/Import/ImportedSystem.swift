// SPDX-License-Identifier: Apache-2.0

import CardModel

/// One system of a card while a file is read.
struct ImportedSystem {
    /// Its code, or `nil` when the file does not say.
    var code: SystemCode?
    /// Whether the code is no more than likely.
    var isCodeAssumed = false
    /// Its own IDm, or `nil` when the file does not say.
    var idm: IDm?
    /// Its own PMm, or `nil` when the file does not say.
    var pmm: PMm?
    var areas: [AreaDump] = []
    var extra = JSONObject()
    private(set) var services: [ServiceDump] = []
    private var places: [ServiceCode: Int] = [:]
    private var states: [ServiceCode: ReadState] = [:]

    init(code: SystemCode?, idm: IDm? = nil, pmm: PMm? = nil) {
        self.code = code
        self.idm = idm
        self.pmm = pmm
    }

    /// Notes that there is a service, at the place where it is named first.
    mutating func note(
        _ code: ServiceCode, keyVersion: KeyVersion? = nil, state: ReadState? = nil, extra: JSONObject = JSONObject()
    ) {
        if places[code] == nil {
            places[code] = services.count
            services.append(ServiceDump(code: code, state: .skipped))
        }
        guard let place = places[code] else { return }
        if let keyVersion { services[place].keyVersion = keyVersion }
        services[place].extra.merge(extra)
        if let state { states[code] = state }
    }

    /// Adds one block of a service; `false` when the block is there already with other bytes.
    mutating func add(_ block: Block, at number: UInt16, of code: ServiceCode) -> Bool {
        note(code)
        guard let place = places[code] else { return false }
        let old = services[place].blocks.updateValue(block, forKey: number)
        return old == nil || old == block
    }

    /// How many blocks of a service there are.
    func count(of code: ServiceCode) -> Int { numbers(of: code).count }

    /// The numbers of the blocks of a service that there are, in no order.
    func numbers(of code: ServiceCode) -> [UInt16] {
        places[code].map { services[$0].blocks.numbers } ?? []
    }

    /// Notes that the open services of `group` that hold no blocks open the same blocks as the one that does.
    mutating func noteOverlap(_ group: [ServiceCode]) {
        guard let read = group.first(where: { count(of: $0) > 0 }) else { return }
        for code in group where code != read && !code.requiresAuthentication && count(of: code) == 0 {
            note(code, state: .skipped, extra: JSONObject([("sameAs", .string(read.description))]))
        }
    }

    /// The services with what became of each: as the file said, else read when there are blocks, needing a key when
    /// its code says so, and else not asked for.
    var finishedServices: [ServiceDump] {
        services.map { service in
            var service = service
            service.state =
                states[service.code]
                ?? (!service.blocks.isEmpty ? .read : service.code.requiresAuthentication ? .keyRequired : .skipped)
            return service
        }
    }

    /// The system that alone has services with these codes, for files that do not name it: the transit cards' for
    /// their history, balance and gate log, the common area for the purses of Edy, nanaco and WAON.
    static func assumedCode(for services: some Sequence<ServiceCode>) -> SystemCode? {
        let codes = Set(services.map(\.rawValue))
        if !codes.isDisjoint(with: [0x090F, 0x008B, 0x108F, 0x10CB]) { return .transit }
        if !codes.isDisjoint(with: [0x1317, 0x170F, 0x110B, 0x5597, 0x564F, 0x558B, 0x6817, 0x680B, 0x684F]) {
            return .commonArea
        }
        return nil
    }
}
