// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// An elementary file of a virtual card.
package struct VirtualFile: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Bytes from the first to the last: a transparent file.
        case bytes([UInt8])
        /// Records, counted from 1.
        case records([[UInt8]])
    }

    package var id: FileIdentifier
    /// Its short identifier, 1 to 30; `nil` when it has none.
    package var shortID: UInt8?
    package var content: Content
    /// The access condition of READ.
    package var read: FileAccess
    /// The access condition of UPDATE.
    package var update: FileAccess
    /// Whether it is read in secure messaging only.
    package var isEncrypted: Bool

    /// Creates a file; by default everyone can read it and nobody can write it.
    package init(
        _ id: FileIdentifier, shortID: UInt8? = nil, _ content: Content, read: FileAccess = .always,
        update: FileAccess = .never(), isEncrypted: Bool = false
    ) {
        self.id = id
        self.shortID = shortID
        self.content = content
        self.read = read
        self.update = update
        self.isEncrypted = isEncrypted
    }
}

/// The master file or an application of a virtual card.
package struct VirtualDirectory: Hashable, Sendable {
    /// Its name; `nil` for the master file and for directories that are selected by identifier only.
    package var name: AID?
    /// Its identifier; `nil` when it has none.
    package var id: FileIdentifier?
    /// The answer of SELECT to a request for file control information: the template as the card would send it.
    package var information: [UInt8]
    /// Whether SELECT is answered with 6283, and nothing in it can be read.
    package var isLocked: Bool
    package var pins: [VirtualPIN]
    package var files: [VirtualFile]
    /// The answers to GET DATA, by P1 and P2.
    package var dataObjects: [UInt16: [UInt8]]

    package init(
        name: AID? = nil, id: FileIdentifier? = nil, information: [UInt8] = [], isLocked: Bool = false,
        pins: [VirtualPIN] = [], files: [VirtualFile] = [], dataObjects: [UInt16: [UInt8]] = [:]
    ) {
        self.name = name
        self.id = id
        self.information = information
        self.isLocked = isLocked
        self.pins = pins
        self.files = files
        self.dataObjects = dataObjects
    }
}

/// The files of a virtual card: a master file and, one level below it, applications.
package struct VirtualFileTree: Sendable {
    /// The master file, 3F00.
    package var masterFile: VirtualDirectory
    /// The applications in the card's order: a partial name selects the first match.
    package var applications: [VirtualDirectory]
    /// What the card does beside its files.
    package var applets: [any VirtualApplet]

    package init(
        masterFile: VirtualDirectory = VirtualDirectory(), applications: [VirtualDirectory] = [],
        applets: [any VirtualApplet] = []
    ) {
        self.masterFile = masterFile
        self.masterFile.id = masterFile.id ?? .masterFile
        self.applications = applications
        self.applets = applets
    }

    /// The directory with this number: 0 for the master file, then the applications.
    subscript(_ number: Int) -> VirtualDirectory {
        get { applications.indices.contains(number - 1) ? applications[number - 1] : masterFile }
        set {
            if applications.indices.contains(number - 1) {
                applications[number - 1] = newValue
            } else {
                masterFile = newValue
            }
        }
    }

    package func pin(_ name: String) -> VirtualPIN? {
        ([masterFile] + applications).lazy.flatMap(\.pins).first { $0.name == name }
    }
}

/// A PIN of a virtual card. It is test data and appears in plain text in the card file; nobody's real PIN belongs
/// there.
package struct VirtualPIN: Hashable, Sendable {
    /// Its name in the access rules of files; unique within a card.
    package var name: String
    /// The identifier of its internal file, for cards whose PIN is selected before VERIFY with P2 80.
    package var id: FileIdentifier?
    /// P2 of a VERIFY that needs no selection, such as 81; `nil` when there is none.
    package var reference: UInt8?
    /// The right value.
    package var value: [UInt8]
    /// The number of wrong values in a row that lock it, 1 to 15.
    package var tries: Int
    /// The number of tries left.
    package var triesLeft: Int
    /// The status word when it is locked: 6983, 6984 as on driver's licenses, or 63C0.
    package var lockedStatus: UInt16
    /// Whether a wrong value is answered with 63Cx; otherwise with 6300, which does not report the tries left.
    package var tellsTries: Bool

    package init(
        name: String, id: FileIdentifier? = nil, reference: UInt8? = nil, value: [UInt8], tries: Int = 3,
        triesLeft: Int? = nil, lockedStatus: UInt16 = 0x6983, tellsTries: Bool = true
    ) {
        self.name = name
        self.id = id
        self.reference = reference
        self.value = value
        self.tries = min(max(tries, 1), 15)
        self.triesLeft = min(max(triesLeft ?? tries, 0), 15)
        self.lockedStatus = lockedStatus
        self.tellsTries = tellsTries
    }
}

/// The access condition for reading or writing a file of a virtual card.
package enum FileAccess: Hashable, Sendable {
    /// No condition.
    case always
    /// It is refused with this status word, regardless of any verification; 6982 means that something is missing.
    case never(status: UInt16 = 0x6982)
    /// The PINs with these names must be verified.
    case pins([String])
}
