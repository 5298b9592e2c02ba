// SPDX-License-Identifier: Apache-2.0

/// A command of DESFire, and how it and its answer travel in a session. The sessions say what that means for each of them.
///
/// Sources: NXP's data sheets by way of libfreefare and Proxmark3; each row is tried with Debian's libfreefare.
struct DESFireCommand: Hashable, Sendable {
    /// How data travels.
    enum Protection: Hashable, Sendable {
        /// Not enciphered, whatever the file.
        case mac
        /// As the file's settings say, for the key that has the right.
        case file
        /// Enciphered, whatever the file.
        case full
    }

    let code: UInt8
    let sent: Protection
    let answered: Protection
    /// Whether its answer ends the session, so that it has no code.
    var isLast = false
    /// Whether the whole command is one APDU and so is its answer; else both are cut into frames.
    var isWhole = false

    private init(
        _ code: UInt8, _ sent: Protection, _ answered: Protection, isLast: Bool = false, isWhole: Bool = false
    ) {
        (self.code, self.sent, self.answered) = (code, sent, answered)
        (self.isLast, self.isWhole) = (isLast, isWhole)
    }

    // Looking.
    static let version = DESFireCommand(0x60, .mac, .mac)
    static let applications = DESFireCommand(0x6A, .mac, .mac)
    static let names = DESFireCommand(0x6D, .mac, .mac)
    static let freeMemory = DESFireCommand(0x6E, .mac, .mac)
    static let keySettings = DESFireCommand(0x45, .mac, .mac)
    static let keyVersion = DESFireCommand(0x64, .mac, .mac)
    static let files = DESFireCommand(0x6F, .mac, .mac)
    static let fileSettings = DESFireCommand(0xF5, .mac, .mac)
    static let uid = DESFireCommand(0x51, .mac, .full)
    // Files.
    static let readData = DESFireCommand(0xBD, .mac, .file)
    static let readRecords = DESFireCommand(0xBB, .mac, .file)
    static let readValue = DESFireCommand(0x6C, .mac, .file)
    static let writeData = DESFireCommand(0x3D, .file, .mac)
    static let writeRecord = DESFireCommand(0x3B, .file, .mac)
    static let credit = DESFireCommand(0x0C, .file, .mac)
    static let debit = DESFireCommand(0xDC, .file, .mac)
    static let commit = DESFireCommand(0xC7, .mac, .mac)
    static let abort = DESFireCommand(0xA7, .mac, .mac)
    // Files, in an EV2 session.
    static let readDataWhole = DESFireCommand(0xAD, .mac, .file, isWhole: true)
    static let readRecordsWhole = DESFireCommand(0xAB, .mac, .file, isWhole: true)
    static let writeDataWhole = DESFireCommand(0x8D, .file, .mac, isWhole: true)
    static let writeRecordWhole = DESFireCommand(0x8B, .file, .mac, isWhole: true)
    // Applications and files.
    static let createApplication = DESFireCommand(0xCA, .mac, .mac)
    static let deleteApplication = DESFireCommand(0xDA, .mac, .mac)
    static let format = DESFireCommand(0xFC, .mac, .mac)
    static let createStandardFile = DESFireCommand(0xCD, .mac, .mac)
    static let createBackupFile = DESFireCommand(0xCB, .mac, .mac)
    static let createValueFile = DESFireCommand(0xCC, .mac, .mac)
    static let createLinearFile = DESFireCommand(0xC1, .mac, .mac)
    static let createCyclicFile = DESFireCommand(0xC0, .mac, .mac)
    // Settings and keys.
    static let changeKeySettings = DESFireCommand(0x54, .full, .mac)
    static let changeKey = DESFireCommand(0xC4, .full, .mac)
    /// Of the key that opened the session.
    static let changeOwnKey = DESFireCommand(0xC4, .full, .mac, isLast: true)

    /// Whether the file's mode decides how it travels.
    var dependsOnFile: Bool { sent == .file || answered == .file }
}

/// How the data of a file travels; the raw values are those of its settings.
@nonexhaustive
public enum DESFireMode: UInt8, Hashable, Sendable {
    case plain = 0
    /// With a code over the data.
    case mac = 1
    /// Enciphered.
    case full = 3

    /// The mode in the two low bits of a file's settings; 2 is plain as well.
    init(option: UInt8) { self = DESFireMode(rawValue: option & 0x03) ?? .plain }
}

/// The status bytes of DESFire.
enum DESFireStatus {
    static let success: UInt8 = 0x00
    static let nothingToCommit: UInt8 = 0x0C
    static let unknownCommand: UInt8 = 0x1C
    static let noSuchKey: UInt8 = 0x40
    static let denied: UInt8 = 0x9D
    static let noSuchApplication: UInt8 = 0xA0
    static let delay: UInt8 = 0xAD
    static let authentication: UInt8 = 0xAE
    static let more: UInt8 = 0xAF
    static let noSuchFile: UInt8 = 0xF0
}
