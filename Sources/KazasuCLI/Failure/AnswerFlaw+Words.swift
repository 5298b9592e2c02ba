// SPDX-License-Identifier: Apache-2.0

import FeliCa

extension AnswerFlaw {
    /// What is wrong with an answer, for people and without personal data.
    var words: String {
        switch self {
        case .empty: tr("it is empty", "空の応答")
        case .length, .tooShort, .trailingBytes: tr("its length is wrong", "長さの誤り")
        case .responseCode: tr("its response code is wrong", "レスポンスコードの誤り")
        case .idm: tr("it carries another card's IDm", "別のカードの IDm")
        case .count: tr("its count is wrong", "個数の誤り")
        case .value, .echo: tr("a value in it is wrong", "値の誤り")
        @unknown default: tr("it is wrong", "誤った応答")
        }
    }
}

extension CommandCode {
    /// What the manual calls the command, or its code.
    var title: String { name ?? "\(self)" }
}
