// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardModel
import ISO7816

/// Options of the commands that verify PINs.
struct PINOptions: ParsableArguments {
    @Option(
        name: .customLong("pin1-from"),
        help: help(
            "Where PIN 1 comes from: env:NAME, file:PATH or fd:NUMBER. Else it is asked for on the terminal.",
            "暗証番号1の入力元: env:変数名、file:パス、fd:番号。省略時は端末で尋ねる。", value: "source"))
    var pin1From: SecretSource?

    @Option(
        name: .customLong("pin2-from"),
        help: help(
            "Where PIN 2 comes from, in the same way.", "暗証番号2の入力元（書き方は同じ）。", value: "source"))
    var pin2From: SecretSource?

    @Flag(
        name: .long,
        help: help(
            "Send a PIN even when only one try is left, or nobody knows how many; asks on the terminal before.",
            "残り1回、または残り回数が不明でも照合する。その前に端末で確認する。"))
    var allowLastTry = false

    func validate() throws {
        try SecretSource.validate(pin1From, "--pin1-from")
        try SecretSource.validate(pin2From, "--pin2-from")
    }

    /// The source of PIN 1 or 2; `nil` when it is to be typed.
    func source(_ number: Int) -> SecretSource? { number == 1 ? pin1From : pin2From }
}

extension SecretSource {
    /// The PIN that it names.
    ///
    /// - Parameter what: what messages call it.
    /// - Throws: ``Failure``, without what was read.
    func readPIN(_ what: String) throws(Failure) -> PIN { PIN(try read(what)) }
}
