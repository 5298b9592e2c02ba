// SPDX-License-Identifier: Apache-2.0

import Kazasu
import KazasuCLI
import KazasuTaps
import Server

/// The parameters of `taps.subscribe`: the options of `watch` for cards and events.
struct TapParameters {
    private(set) var reader: String?
    private(set) var reading = TapReading.id
    private(set) var onlyKnown = false
    private(set) var debounce = Duration.zero
    private(set) var requireMac: SecretSource?
    private(set) var idKey: SecretSource?
    private var only: JSONValue?
    private var (phones, wildcard) = (false, false)

    /// - Throws: ``CommandError`` with status 64.
    init(_ params: JSONObject) throws(CommandError) {
        var isRead = false
        for member in params.members {
            let (name, value) = (member.key, member.value)
            if case .null = value { continue }
            switch name {
            case "reader": reader = try Self.text(name, value)
            case "read":
                guard let word = WatchBasics.Reading(rawValue: try Self.text(name, value)) else {
                    throw Self.wrong(tr("read is id, balance or history", "read は id、balance、history のいずれかです"))
                }
                reading = word.value
                isRead = word != .id
            case "only": only = value
            case "onlyKnown": onlyKnown = try Self.flag(name, value)
            case "phones": phones = try Self.flag(name, value)
            case "wildcard": wildcard = try Self.flag(name, value)
            case "requireMac": requireMac = try Self.source(name, value)
            case "idKey": idKey = try Self.source(name, value)
            case "debounce":
                guard let seconds = Self.number(value), (0...86_400).contains(seconds) else {
                    throw Self.wrong(tr("debounce is 0 to 86400 seconds", "debounce は 0～86400 秒です"))
                }
                debounce = .seconds(seconds)
            default: throw Self.unknown(name)
            }
        }
        let caller = Caller.current
        func needs(_ option: String, _ other: String) -> CommandError {
            let (option, other) = (caller.option(option), caller.option(other))
            return Self.wrong(tr("\(option) needs \(other)", "\(option) には \(other) が必要です"))
        }
        if wildcard, !phones { throw needs("wildcard", "phones") }
        if onlyKnown, only == nil { throw needs("only-known", "only") }
        if requireMac != nil, isRead {
            let option = caller.option("require-mac")
            throw Self.wrong(
                tr(
                    "\(option) reads only the card's number: leave out read",
                    "\(option) ではカードの番号だけを読みます。read は外してください"))
        }
    }

    /// The cards to look for.
    var query: CardQuery { phones ? .phones(wildcard: wildcard) : .any }

    /// The cards that have names.
    func known() throws(CommandError) -> KnownCards {
        switch only {
        case nil: return KnownCards()
        case .object(let names):
            do throws(KnownCards.Refusal) {
                return try KnownCards(names)
            } catch {
                throw Self.wrong("only: " + error.words[Language.current])
            }
        case let source?:
            let source = try Self.source("only", source)
            if let path = source.path { return try KnownCardsFile.read(path) }
            return try KnownCardsFile.parse(source.key(tr("the names of only", "only の名前")), "only")
        }
    }

    // MARK: Values

    private static func wrong(_ message: String) -> CommandError { CommandError(.parameterWrong, message) }

    private static func unknown(_ name: String) -> CommandError {
        var failure = wrong(tr("unknown parameter '\(name)'", "'\(name)' というパラメーターはありません"))
        let names = ServiceDescription.tapParameters.map(\.name)
        failure.hint =
            NearestName.of(name, among: names).map { Remedy.didYouMean.text($0) }
            ?? names.joined(separator: ", ")
        return failure
    }

    private static func text(_ name: String, _ value: JSONValue) throws(CommandError) -> String {
        guard case .string(let text) = value else { throw wrong(tr("\(name) is a text", "\(name) は文字列です")) }
        return text
    }

    private static func flag(_ name: String, _ value: JSONValue) throws(CommandError) -> Bool {
        guard case .bool(let isOn) = value else {
            throw wrong(tr("\(name) is true or false", "\(name) は true または false です"))
        }
        return isOn
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    private static func source(_ name: String, _ value: JSONValue) throws(CommandError) -> SecretSource {
        guard case .string(let text) = value, case let source = SecretSource(argument: text), source != .none else {
            throw wrong(
                tr(
                    "\(name) takes env:NAME, file:PATH or fd:NUMBER",
                    "\(name) には env:変数名、file:パス、fd:番号 を指定してください"))
        }
        return source
    }
}
