// SPDX-License-Identifier: Apache-2.0

internal import ByteCodec
public import CardModel
package import FeliCa

/// A change that issuing makes to a card.
@nonexhaustive
public enum LiteChange: Hashable, Sendable {
    /// The ID block (82).
    case id(Block)
    /// SER_C (84).
    case serviceCode(UInt16)
    /// CKV (86).
    case keyVersion(from: UInt16, to: UInt16)
    /// The card key (87).
    case key
    /// A user block, or REG.
    case block(UInt16)
    /// The answer to a Polling for 12FC.
    case ndef(Bool)
    /// Blocks that can never be written again.
    case readOnly([UInt16])
    /// Blocks that can be read only after authentication.
    case authenticateToRead([UInt16])
    /// Blocks that can be written only after authentication.
    case authenticateToWrite([UInt16])
    /// Blocks that can be written only with a MAC.
    case macToWrite([UInt16])
    /// The system blocks are locked; the key can be changed later, or not.
    case lock(isKeyChangeable: Bool)

    /// Whether it can never be taken back.
    public var isIrreversible: Bool {
        switch self {
        case .readOnly, .authenticateToRead, .authenticateToWrite, .macToWrite, .lock: true
        case .id, .serviceCode, .keyVersion, .key, .block, .ndef: false
        }
    }

    /// The word for it in documents.
    package var word: String {
        switch self {
        case .id: "id"
        case .serviceCode: "serviceCode"
        case .keyVersion: "keyVersion"
        case .key: "key"
        case .block: "block"
        case .ndef: "ndef"
        case .readOnly: "readOnly"
        case .authenticateToRead: "authenticateToRead"
        case .authenticateToWrite: "authenticateToWrite"
        case .macToWrite: "macToWrite"
        case .lock: "lock"
        }
    }
}

extension LiteChange: SelfDescribing {
    /// What changes.
    public var message: LocalizedText {
        func list(_ numbers: [UInt16]) -> String { numbers.map { String($0) }.joined(separator: ", ") }
        func blocks(_ numbers: [UInt16]) -> LocalizedText {
            LocalizedText("block\(numbers.count == 1 ? "" : "s") \(list(numbers))", "ブロック \(list(numbers))")
        }
        switch self {
        case .id: return LocalizedText("the ID block (82) is written", "ID ブロック（82）を書き込みます")
        case .serviceCode(let code):
            let code = Hex.encode(code, digits: 4)
            return LocalizedText("the service code (84) becomes \(code)", "サービスコード（84）を \(code) にします")
        case .keyVersion(let old, let new):
            let (old, new) = (Hex.encode(old, digits: 4), Hex.encode(new, digits: 4))
            return LocalizedText(
                "the key version (86) changes from \(old) to \(new)", "鍵バージョン（86）を \(old) から \(new) にします")
        case .key: return LocalizedText("the card key (87) is written", "カード鍵（87）を書き込みます")
        case .block(let number):
            return LocalizedText("block \(number) is written", "ブロック \(number) を書き込みます")
        case .ndef(let answers):
            return answers
                ? LocalizedText("the card answers as an NFC tag (12FC)", "NFC タグ（12FC）として応答するようにします")
                : LocalizedText("the card no longer answers as an NFC tag (12FC)", "NFC タグ（12FC）として応答しないようにします")
        case .readOnly(let numbers):
            let what = blocks(numbers)
            return LocalizedText("\(what.english) can never be written again", "\(what.japanese) は二度と書き込めなくなります")
        case .authenticateToRead(let numbers):
            let what = blocks(numbers)
            return LocalizedText("reading \(what.english) needs the key", "\(what.japanese) の読み取りに鍵が必要になります")
        case .authenticateToWrite(let numbers):
            let what = blocks(numbers)
            return LocalizedText(
                "writing \(what.english) needs authentication with the key", "\(what.japanese) の書き込みに鍵による認証が必要になります")
        case .macToWrite(let numbers):
            let what = blocks(numbers)
            return LocalizedText("writing \(what.english) needs a MAC", "\(what.japanese) の書き込みに MAC が必要になります")
        case .lock(let isKeyChangeable):
            return isKeyChangeable
                ? LocalizedText(
                    "the system blocks are locked; the key can still be changed with the old one",
                    "システムブロックをロックします（鍵は、元の鍵があれば変更できます）")
                : LocalizedText(
                    "the system blocks are locked, and the key can never be changed", "システムブロックをロックします（鍵は二度と変更できません）")
        }
    }
}

/// A step of issuing, as the journal has it.
@nonexhaustive
public enum LiteStep: String, Hashable, Sendable, CaseIterable {
    /// ID, SER_C and CKV are about to be written.
    case identity
    /// The key is about to be written.
    case key
    /// The key was proved by a mutual authentication after the card had lost its power.
    case keyProved
    /// User blocks are about to be written.
    case blocks
    /// The restrictions are about to be written: they can never be taken back.
    case lock
    /// Everything was read back in a session with the new key.
    case done
}

/// Issues a FeliCa Lite-S.
///
/// Every step looks first whether it was done already, so that an issuance that was interrupted at any place begins again
/// and ends as if it had not been. The key is proved, by both sides, after the card lost its power and before anything
/// is locked, and the block that locks is written with a MAC over the write counter of that proof: the card itself
/// refuses it when anything else was written in between. So a locked card always has the key that was given.
package final class LiteIssuer {
    private let channel: LiteChannel
    private let profile: LiteProfile
    private let key: LiteKey
    /// The ID block from which the key was derived.
    private let source: Block?
    /// Stores a step where it survives the loss of power, before it is taken.
    private let journal: (LiteStep) throws(LiteError) -> Void
    /// Asks the user to lift the card and to put it back, and returns when that may have happened.
    private let lift: () throws(LiteError) -> Void

    /// How often issuing begins again after the card lost its power.
    private static let tries = 3

    /// - Parameter source: the ID block from which the key was derived: a card with another one is not locked.
    package init(
        _ channel: LiteChannel, _ profile: LiteProfile, _ key: LiteKey, source: Block? = nil,
        lift: @escaping () throws(LiteError) -> Void = { () throws(LiteError) in throw .keptPower },
        journal: @escaping (LiteStep) throws(LiteError) -> Void
    ) {
        (self.channel, self.profile, self.key, self.source) = (channel, profile, key, source)
        (self.lift, self.journal) = (lift, journal)
    }

    // MARK: What is to be done

    /// The blocks of a card that decide how it is issued.
    package struct State {
        package let id: Block
        let service: Block
        let version: Block
        let configuration: Block
        let count: UInt32

        /// Whether the system blocks are locked.
        package var isLocked: Bool { configuration[2] != 0xFF }
    }

    /// Reads what decides; nothing is written, and no key is needed.
    package static func state(_ channel: LiteChannel) throws(LiteError) -> State {
        guard channel.isLiteS else { throw .notLiteS }
        let blocks = try channel.read([
            LiteNumber.id, LiteNumber.service, LiteNumber.keyVersion, LiteNumber.configuration, LiteNumber.writeCount,
        ])
        guard blocks.count == 5 else { throw .reading(.cardLost) }
        return State(
            id: blocks[0], service: blocks[1], version: blocks[2], configuration: blocks[3],
            count: blocks[4].uint24(at: 0, .little))
    }

    /// The changes to a card in this state. Whether it has the key is not looked at.
    ///
    /// - Throws: ``LiteError/locked``, ``LiteError/writesUsedUp``.
    package static func changes(_ state: State, _ profile: LiteProfile) throws(LiteError) -> [LiteChange] {
        if state.isLocked { throw .locked }
        if state.count >= LiteChannel.lastOpenCount { throw .writesUsedUp }
        var changes: [LiteChange] = []
        let id = profile.id(state.id)
        if id != state.id { changes.append(.id(id)) }
        if profile.service(state.service) != state.service {
            changes.append(.serviceCode(profile.serviceCode ?? 0))
        }
        let version = state.version.uint16(at: 0, .little)
        if version != profile.keyVersion { changes.append(.keyVersion(from: version, to: profile.keyVersion)) }
        changes.append(.key)
        for (number, _) in profile.sortedBlocks { changes.append(.block(number)) }
        let (old, new) = (state.configuration, profile.configuration(state.configuration))
        func added(_ offset: Int) -> [UInt16] {
            let bits = new.uint16(at: offset, .little) & ~old.uint16(at: offset, .little)
            return (0...14).filter { bits >> $0 & 1 == 1 }
        }
        if old[3] & 1 != new[3] & 1 { changes.append(.ndef(new[3] & 1 == 1)) }
        let closed = old.uint16(at: 0, .little) & ~new.uint16(at: 0, .little)
        let readOnly = (0...14 as ClosedRange<UInt16>).filter { closed >> $0 & 1 == 1 }
        if !readOnly.isEmpty { changes.append(.readOnly(readOnly)) }
        if !added(6).isEmpty { changes.append(.authenticateToRead(added(6))) }
        if !added(8).isEmpty { changes.append(.authenticateToWrite(added(8))) }
        if !added(10).isEmpty { changes.append(.macToWrite(added(10))) }
        if profile.locksCard { changes.append(.lock(isKeyChangeable: profile.isKeyChangeable)) }
        return changes
    }

    // MARK: Doing it

    /// Issues the card, or goes on where an issuance was interrupted.
    ///
    /// - Parameters:
    ///   - resumes: whether the card may be locked already, by the issuance that was interrupted.
    ///   - hasKey: whether the card has proved the key before: then a card that does not prove it is left as it is.
    /// - Throws: ``LiteError``. Whatever it is, a card that is locked has the key.
    package func run(resumes: Bool = false, hasKey: Bool = false) throws(LiteError) {
        if key.isFactoryKey { throw .factoryKey }
        if hasKey, try !channel.beginSession(key) { throw .notGenuine }
        var mayBeLocked = resumes
        for attempt in 1... {
            do throws(LiteError) {
                return try runOnce(mayBeLocked: mayBeLocked)
            } catch .unstable where attempt < Self.tries {
                // It may have been locked before the answer was lost.
                mayBeLocked = true
                try channel.select()
            }
        }
    }

    private func runOnce(mayBeLocked: Bool) throws(LiteError) {
        let state = try Self.state(channel)
        if let source, source != profile.id(state.id) { throw .changed(block: LiteNumber.id) }
        if state.isLocked {
            guard mayBeLocked else { throw .locked }
            return try check(state)
        }
        _ = try Self.changes(state, profile)
        try writeIdentity(state)
        try writeKey()
        try writeBlocks()
        let configuration = profile.configuration(state.configuration)
        if configuration != state.configuration {
            try restrict(configuration, id: profile.id(state.id))
            try losePower()
        }
        try check(try Self.state(channel))
    }

    private func writeIdentity(_ state: State) throws(LiteError) {
        let writes = [
            (LiteNumber.id, state.id, profile.id(state.id)),
            (LiteNumber.service, state.service, profile.service(state.service)),
            (LiteNumber.keyVersion, state.version, profile.version),
        ].filter { $0.1 != $0.2 }
        guard !writes.isEmpty else { return }
        try journal(.identity)
        for (number, _, block) in writes {
            try channel.write(number, block)
            guard try channel.read([number]).first == block else { throw .changed(block: number) }
        }
    }

    /// Writes the key unless the card has it, and has both sides prove it with what the card has kept without power.
    private func writeKey() throws(LiteError) {
        if try !channel.beginSession(key) {
            try journal(.key)
            try key.withBlock { block throws(LiteError) in try channel.write(LiteNumber.key, block) }
        }
        // Sets EXT_AUTH, by which losePower() sees that the card has lost its power.
        try channel.inSession(key, mutual: true) { _ throws(LiteError) in }
        try losePower()
        try channel.inSession(key, mutual: true) { _ throws(LiteError) in }
        try journal(.keyProved)
    }

    private func writeBlocks() throws(LiteError) {
        guard !profile.blocks.isEmpty else { return }
        try journal(.blocks)
        let numbers = profile.sortedBlocks.map(\.number)
        let wanted = profile.sortedBlocks.map(\.block)
        try channel.inSession(key, mutual: true) { card throws(LiteError) in
            let present = try card.read(numbers)
            for (number, (old, new)) in zip(numbers, zip(present, wanted)) where old != new {
                try card.write(number, new)
            }
            try compare(numbers, wanted, card)
        }
    }

    /// Writes MC, after everything else was read again with the counter that the MAC of the write covers.
    private func restrict(_ configuration: Block, id: Block) throws(LiteError) {
        try channel.inSession(key, mutual: true) { card throws(LiteError) in
            // It took effect before the answer was lost.
            if try card.read([LiteNumber.configuration]).first == configuration { return }
            let count = try card.writeCount()
            try compare(
                [LiteNumber.id, LiteNumber.keyVersion] + profile.sortedBlocks.map(\.number),
                [id, profile.version] + profile.sortedBlocks.map(\.block), card)
            try journal(.lock)
            try card.write(LiteNumber.configuration, configuration, count: count)
        }
    }

    /// Reads everything back in a session with the new key.
    private func check(_ state: State) throws(LiteError) {
        guard profile.configuration(state.configuration) == state.configuration else {
            throw state.isLocked ? .changed(block: LiteNumber.configuration) : .unstable
        }
        try channel.inSession(key, mutual: true) { card throws(LiteError) in
            try compare(
                [LiteNumber.id, LiteNumber.keyVersion, LiteNumber.configuration] + profile.sortedBlocks.map(\.number),
                [profile.id(state.id), profile.version, state.configuration] + profile.sortedBlocks.map(\.block), card)
        }
        try journal(.done)
    }

    private func compare(
        _ numbers: [UInt16], _ wanted: [Block], _ card: LiteChannel.Secured
    ) throws(LiteError) {
        for (number, (found, wanted)) in zip(numbers, zip(try card.read(numbers), wanted)) where found != wanted {
            throw .changed(block: number)
        }
    }

    /// Has the card lose its power, and finds it again.
    ///
    /// EXT_AUTH, which the card forgets without power, is set before: so it is known whether it has.
    private func losePower() throws(LiteError) {
        if try channel.cyclePower() {
            try channel.select()
            if try hasForgotten() { return }
        }
        try lift()
        try channel.select()
        guard try hasForgotten() else { throw .keptPower }
    }

    private func hasForgotten() throws(LiteError) -> Bool {
        try channel.read([LiteNumber.state]).first?[0] == 0
    }
}
