// SPDX-License-Identifier: Apache-2.0

internal import CardModel
internal import FeliCa

extension PMm {
    /// Whether a card with this IC may answer a command: it is not known to keep silent.
    func mayAnswer(_ command: CommandCode) -> Bool {
        ICProfile.of(self)?.support(of: command) != .silent
    }
}
