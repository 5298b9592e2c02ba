// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// What a virtual card does beside the files of ISO 7816-4: how it is opened, and commands of its own.
///
/// A card has any number of applets over one tree of files. Each is written by hand from its specification and shares nothing
/// but ciphers with the reading side, so that a mistake there shows.
package protocol VirtualApplet: Sendable {
    /// The key in a card file that describes it, such as `passport`.
    static var name: String { get }
    /// The names that the access rules of files have for what it opens.
    static var rights: [String] { get }

    /// Reads it from a card file.
    ///
    /// - Parameters:
    ///   - json: the value of ``name``.
    ///   - card: the whole card.
    init(json: JSONCursor, of card: JSONCursor) throws(DocumentError)

    /// Closes the files of a card that is made from a dump, where the dump has what opens them.
    static func close(_ tree: inout VirtualFileTree, as dump: CardDump)

    /// Forgets what ends without power.
    mutating func losePower()

    /// A file or an application was selected.
    mutating func select()

    /// Whether a command whose class says that it is a link of a chain is a command of the applet as it is.
    func takesLink(_ command: CommandAPDU) -> Bool

    /// Answers a command, or leaves it to the files.
    ///
    /// - Parameters:
    ///   - command: the command, with the data of the whole chain.
    ///   - card: the files, and what was verified; without its applets.
    mutating func answer(_ command: CommandAPDU, on card: inout FileCardState) -> FileCardReply?
}

extension VirtualApplet {
    package static var rights: [String] { [] }

    package static func close(_ tree: inout VirtualFileTree, as dump: CardDump) {}

    package mutating func select() {}

    package func takesLink(_ command: CommandAPDU) -> Bool { false }
}

extension VirtualFileTree {
    /// The applets that a card file can have.
    static let applets: [any VirtualApplet.Type] = [
        VirtualResidence.self, VirtualPassport.self, VirtualNTAG424.self, VirtualDESFire.self,
    ]

    /// The card's applet of this kind; `nil` when it has none.
    package func applet<Applet: VirtualApplet>(_ kind: Applet.Type) -> Applet? {
        applets.lazy.compactMap { $0 as? Applet }.first
    }
}
