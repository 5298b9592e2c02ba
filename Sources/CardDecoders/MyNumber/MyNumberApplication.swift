// SPDX-License-Identifier: Apache-2.0

public import CardModel

/// An application of a My Number card; the raw values are its words in `kazasu.mynumber/1`.
///
/// Sources: jpki/myna, OpenSC, AokiApp/jsapdu.
public enum MyNumberApplication: String, Hashable, Sendable, CaseIterable {
    /// 公的個人認証 AP: certificates.
    case jpki
    /// 券面事項入力補助 AP: the holder's data as text.
    case cardInput
    /// 券面 AP: the holder's data as pictures.
    case cardSurface

    /// Its name on the card.
    public var aid: AID? {
        switch self {
        case .jpki: AID(hexadecimal: "d392f000260100000001")
        case .cardInput: AID(hexadecimal: "d3921000310001010408")
        case .cardSurface: AID(hexadecimal: "d3921000310001010402")
        }
    }
}
