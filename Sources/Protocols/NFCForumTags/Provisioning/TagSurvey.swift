// SPDX-License-Identifier: Apache-2.0

internal import ISO7816

/// An NTAG 424 DNA as it is before anything is sent with a key.
package struct TagSurvey: Hashable, Sendable {
    /// The UID, seven bytes; zeros of a tag that shows a random one.
    package let uid: [UInt8]
    /// The answers to GetFileSettings by file, 1 to 3.
    package let answers: [UInt8: [UInt8]]
    /// The versions of the keys by number, as far as the tag tells them to anybody.
    package let versions: [UInt8: UInt8]
    /// The first bytes of the Capability Container; `nil` if not everybody may read them.
    package let capability: [UInt8]?
    /// Whether the tag was switched to LRP.
    package let isLRP: Bool

    /// The length of the Capability Container up to the rights of the NDEF file.
    static let capabilityLength = 15

    /// Whether the UID is not told without a key.
    package var isUIDHidden: Bool { uid.allSatisfy { $0 == 0 } }

    /// FileOption, rights and SDM part, as ChangeFileSettings sends them.
    package func settings(_ file: UInt8) -> [UInt8] { Self.settings(answers[file] ?? []) }

    static func settings(_ answer: [UInt8]) -> [UInt8] { Array(answer.dropFirst().prefix(3) + answer.dropFirst(7)) }

    /// Whether settings and versions are those of the factory.
    var isFactory: Bool {
        versions.values.allSatisfy { $0 == 0 } && TagPlan.factory.allSatisfy { settings($0.key) == $0.value }
    }
}

extension NTAG424Link {
    /// Asks for what the tag tells everybody.
    ///
    /// - Throws: ``TagError/takesNoKey`` for another product.
    func survey() throws(TagError) -> TagSurvey {
        try select()
        do throws(TagError) {
            let hardware = try askPlain(0x60, [], expecting: EV2Status.more)
            guard NTAG424Tag.product(version: hardware) != nil else { throw .takesNoKey }
            _ = try askPlain(0xAF, [], expecting: EV2Status.more)
            let uid = Array(try askPlain(0xAF, []).prefix(7))
            guard uid.count == 7 else { throw .badAnswer }
            var answers: [UInt8: [UInt8]] = [:]
            for file in 1...3 as ClosedRange<UInt8> {
                let answer = try askPlain(EV2Command.settings.code, [file])
                guard answer.count >= 7 else { throw .badAnswer }
                answers[file] = answer
            }
            let versions = try versions()
            let capability = try self.capability(answers[1] ?? [])
            return TagSurvey(
                uid: uid, answers: answers, versions: versions, capability: capability, isLRP: try askMode())
        } catch .iso7816(.status) {
            throw .takesNoKey
        } catch {
            throw error
        }
    }

    private func capability(_ answer: [UInt8]) throws(TagError) -> [UInt8]? {
        guard let file = NTAG424File(1, answer), file.allows([file.read, file.readWrite], key: 0x0E) else { return nil }
        let bytes = try askPlain(EV2Command.read.code, [1, 0, 0, 0, UInt8(TagSurvey.capabilityLength), 0, 0])
        return bytes.count == TagSurvey.capabilityLength ? bytes : nil
    }

    private func versions() throws(TagError) -> [UInt8: UInt8] {
        var versions: [UInt8: UInt8] = [:]
        for number in 0...4 as ClosedRange<UInt8> {
            do throws(TagError) {
                versions[number] = try askPlain(EV2Command.keyVersion.code, [number]).first
            } catch .iso7816(.status) {
                // Not every tag tells them without a key.
                return [:]
            } catch {
                throw error
            }
        }
        return versions
    }
}
