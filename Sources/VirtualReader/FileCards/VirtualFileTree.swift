// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The files of a virtual card: a master file and, one level below it, applications.
public struct VirtualFileTree: Hashable, Sendable {
    /// The master file, 3F00.
    public var masterFile: VirtualDirectory
    /// The applications in the card's order: a partial name selects the first that fits.
    public var applications: [VirtualDirectory]

    /// A tree of files.
    public init(masterFile: VirtualDirectory = VirtualDirectory(), applications: [VirtualDirectory] = []) {
        self.masterFile = masterFile
        self.masterFile.id = masterFile.id ?? .masterFile
        self.applications = applications
    }

    /// The directory with this number: 0 the master file, then the applications.
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

    /// The PIN with this name.
    public func pin(_ name: String) -> VirtualPIN? {
        ([masterFile] + applications).lazy.flatMap(\.pins).first { $0.name == name }
    }
}
