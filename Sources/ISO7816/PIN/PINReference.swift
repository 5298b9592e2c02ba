// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// Which PIN of a card: where it is, and what it may be.
public struct PINReference: Hashable, Sendable {
    /// What people call it.
    public var name: LocalizedText
    /// The files to select before, in this order; none when the current one is right.
    public var path: [SelectTarget]
    /// P2 of VERIFY: 80 for the selected PIN file, 81 and so on for one by its number.
    public var p2: UInt8
    /// What it may be.
    public var form: PINForm
    /// The class of the commands.
    public var cla: ClassByte

    /// A PIN of a card.
    public init(
        _ name: LocalizedText, path: [SelectTarget] = [], p2: UInt8, form: PINForm,
        cla: ClassByte = .interindustry
    ) {
        self.name = name
        self.path = path
        self.p2 = p2
        self.form = form
        self.cla = cla
    }
}
