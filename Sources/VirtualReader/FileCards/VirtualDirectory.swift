// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// The master file or an application of a virtual card.
public struct VirtualDirectory: Hashable, Sendable {
    /// Its name; `nil` for the master file and for directories that are selected by identifier only.
    public var name: AID?
    /// Its identifier; `nil` when it has none.
    public var id: FileIdentifier?
    /// What SELECT answers when it asks for file control information: the template as the card would send it.
    public var information: [UInt8]
    /// SELECT is answered with 6283, and nothing of it can be read.
    public var isLocked: Bool
    /// Its PINs.
    public var pins: [VirtualPIN]
    /// Its files.
    public var files: [VirtualFile]
    /// What GET DATA gives, by P1 and P2.
    public var dataObjects: [UInt16: [UInt8]]

    /// A directory.
    public init(
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
