// SPDX-License-Identifier: Apache-2.0

import CardModel
import NFCTransport
import VirtualReader

/// The cards that ``ISO14443Conformance`` puts before a reader, and what a reader may say of them.
enum ISO14443Card {
    static let uid: [UInt8] = [0x04, 0xA8, 0xD8, 0x62, 0xBC, 0x2B, 0x80]
    static let pupi: [UInt8] = [0xE8, 0x25, 0x3E, 0xEC]
    static let applicationData: [UInt8] = [0x00, 0x4B, 0x51, 0xFF]
    /// Frames of 64 bytes, so that longer commands and answers are chained; FWI 8.
    static let ats: [UInt8] = [0x05, 0x75, 0x00, 0x81, 0x02]
    static let protocolInfo: [UInt8] = [0x00, 0x51, 0x81]
    /// A file of 600 bytes that may be read and written.
    static let file = FileIdentifier(rawValue: 0x2F01)
    static let content = (0..<600).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

    /// A card that speaks ISO-DEP.
    ///
    /// - Parameter extensions: how many waiting time extensions it asks for before each answer.
    static func files(_ technology: Technology, extensions: Int = 0) -> VirtualFileCard? {
        let file = VirtualFile(file, .bytes(content), update: .always)
        var tree = VirtualFileTree()
        tree.masterFile.files = [file]
        var options = ISODEPOptions()
        options.waitingTimeExtensions = extensions
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

    /// What a reader said that is not so; it need not tell everything.
    static func lies(_ picc: PICC?, _ technology: Technology, isISODEP: Bool = true) -> String? {
        switch picc {
        case .typeA(let target)? where technology == .typeA:
            if target.uid != uid { return "UID \(target.uid)" }
            if target.isISODEP != isISODEP { return "ISO-DEP: \(target.isISODEP)" }
            if let told = target.atqa, told != (isISODEP ? 0x0344 : 0x0044) { return "ATQA \(told)" }
            if let told = target.sak, told != (isISODEP ? 0x20 : 0x00) { return "SAK \(told)" }
            if let told = target.ats, !isISODEP || told != ats { return "ATS \(told)" }
        case .typeB(let target)? where technology == .typeB:
            if let told = target.pupi, told != pupi { return "PUPI \(told)" }
            if let told = target.applicationData, told != applicationData { return "application data \(told)" }
            if let told = target.protocolInfo, told != protocolInfo { return "protocol info \(told)" }
        default: return picc.map { "\($0)" } ?? "nothing"
        }
        return nil
    }
}
