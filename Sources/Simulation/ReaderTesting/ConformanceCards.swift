// SPDX-License-Identifier: Apache-2.0

import CardModel
import ReaderCore
import VirtualReader

/// The cards that the conformance suites put before a reader, and the check of what the reader reports about them.
enum ConformanceCards {
    static let idm = IDm(rawValue: 0x0101_0312_3456_7890)
    static let pmm = PMm(rawValue: 0x0120_2204_2767_4EFF)

    /// A FeliCa card with system 0003 and service 090F of 20 blocks.
    static func feliCa() throws(DocumentError) -> any VirtualCard {
        let text = """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"0120220427674eff",
             "systems":[{"code":"0003","keyVersion":"0001","nodes":["0000-FFFE"],"blocks":{"090F":20}}],
             "virtual":{"blocksPerRead":15}}
            """
        return try VirtualCardFile.load(Array(text.utf8))
    }

    /// A FeliCa Lite that was not issued.
    static func feliCaLite() throws(DocumentError) -> any VirtualCard {
        let text = """
            {"schema":"kazasu.card/1","idm":"0101031234567890","pmm":"00f0000000014300","lite":{"kind":"lite"}}
            """
        return try VirtualCardFile.load(Array(text.utf8))
    }

    /// MC of a card that does not answer 12FC.
    static let restrictions: [UInt8] = [0xFF, 0xFF, 0xFF, 0x00, 0x07] + [UInt8](repeating: 0, count: 11)

    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]
    static let pupi: [UInt8] = [0xE8, 0x25, 0x3E, 0xEC]
    static let applicationData: [UInt8] = [0x00, 0x4B, 0x51, 0xFF]
    /// Frames of 64 bytes, so that longer commands and answers are chained; FWI 8.
    static let ats: [UInt8] = [0x05, 0x75, 0x00, 0x81, 0x02]
    static let protocolInfo: [UInt8] = [0x00, 0x51, 0x81]
    /// A file of 600 bytes that can be read and written.
    static let file = FileIdentifier(rawValue: 0x2F01)
    static let content = (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

    /// A card of files on ISO-DEP.
    ///
    /// - Parameters:
    ///   - extensions: how many waiting time extensions it asks for before each answer.
    ///   - multiplier: the multiple of its frame waiting time that each of them asks for, 1 to 59.
    static func files(_ technology: Technology, extensions: Int = 0, multiplier: UInt8 = 1) -> VirtualFileCard? {
        let file = VirtualFile(file, .bytes(content), update: .always)
        var tree = VirtualFileTree()
        tree.masterFile.files = [file]
        var options = ISODEPOptions()
        options.waitingTimeExtensions = extensions
        options.waitingTimeMultiplier = multiplier
        let interface: ISODEPInterface
        switch technology {
        case .typeB:
            guard
                let identity = TypeBIdentity(
                    pupi: pupi, applicationData: applicationData, protocolInfo: protocolInfo)
            else { return nil }
            interface = .typeB(identity)
        default:
            guard let identity = TypeAIdentity(uid: uid, atqa: 0x0344, sak: 0x20) else { return nil }
            interface = .typeA(identity, ats: ats)
        }
        return VirtualFileCard(interface, files: tree, isoDEP: options)
    }

    /// An NTAG213.
    static var tag: VirtualType2Tag? { Type2Memory(.ntag213, uid: uid).map { VirtualType2Tag($0) } }

    /// Returns the first wrong value in what a reader reports, or `nil`; values that it leaves out are not checked.
    static func mistake(_ picc: PICC?, _ technology: Technology, isISODEP: Bool = true) -> String? {
        switch picc {
        case .typeA(let target)? where technology == .typeA:
            if target.uid != uid { return "UID \(target.uid)" }
            if target.isISODEP != isISODEP { return "ISO-DEP: \(target.isISODEP)" }
            if let value = target.atqa, value != (isISODEP ? 0x0344 : 0x0044) { return "ATQA \(value)" }
            if let value = target.sak, value != (isISODEP ? 0x20 : 0x00) { return "SAK \(value)" }
            if let value = target.ats, !isISODEP || value != ats { return "ATS \(value)" }
        case .typeB(let target)? where technology == .typeB:
            if let value = target.pupi, value != pupi { return "PUPI \(value)" }
            if let value = target.applicationData, value != applicationData { return "application data \(value)" }
            if let value = target.protocolInfo, value != protocolInfo { return "protocol info \(value)" }
        default: return picc.map { "\($0)" } ?? "nothing"
        }
        return nil
    }
}
