// SPDX-License-Identifier: Apache-2.0

import CommandDescription
import Kazasu
import KazasuCLI
import KazasuTaps

/// A value of `--webhook-types`: `on,off`.
struct EventTypes: ExpressibleByArgument, Equatable {
    static var argumentKind: ArgumentKind { .list }

    var types: Set<TapEvent.EventType> = []

    init?(argument: String) {
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let type = TapEvent.EventType(rawValue: String(part)) else { return nil }
            types.insert(type)
        }
    }

    static var allValueStrings: [String] { TapEvent.EventType.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { ListCompletion.of { allValueStrings } }
}

/// One `--webhook` with the options that follow it, an order that parsed options do not have.
struct WebhookForm {
    private var url: String
    private var secret: SecretSource?
    private var types: Set<TapEvent.EventType>?
    private var body: String?

    /// The names of the options that belong to the `--webhook` before them.
    static let companions = ["--secret-from", "--webhook-types", "--webhook-body"]

    /// Completes the services, and files.
    static let completion = FileCompletion.of(WebhookBody.Preset.allCases.map(\.rawValue))

    /// The sinks that a command line asks for.
    static func sinks(_ words: [String]) throws(CommandError) -> [SinkFactory] {
        var found: [WebhookForm] = []
        var index = 0
        while index < words.count, words[index] != "--" {
            let parts = words[index].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            guard name == "--webhook" || companions.contains(name) else {
                index += 1
                continue
            }
            if parts.count < 2 { index += 1 }
            let value = parts.count == 2 ? String(parts[1]) : index < words.count ? words[index] : ""
            index += 1
            if name == "--webhook" {
                found.append(WebhookForm(url: value))
                continue
            }
            guard let last = found.indices.last, found[last].take(name, value) else {
                throw CommandError(.webhookOrder, values: [name])
            }
        }
        var sinks: [SinkFactory] = []
        for webhook in found { sinks.append(try webhook.sink()) }
        return sinks
    }

    private init(url: String) { self.url = url }

    /// Takes an option; the parser has checked its value.
    ///
    /// - Returns: `false` if it is given twice.
    private mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--secret-from":
            guard secret == nil else { return false }
            secret = SecretSource(argument: value)
        case "--webhook-types":
            guard types == nil else { return false }
            types = EventTypes(argument: value)?.types
        default:
            guard body == nil else { return false }
            body = value
        }
        return true
    }

    private func sink() throws(CommandError) -> SinkFactory {
        let secret = try secret?.key(tr("the webhook's key", "webhook の鍵"))
        let body = try body.map { name throws(CommandError) in try Self.body(name) } ?? .event
        return { [url, types] in
            WebhookSink(url, types: types, body: body, secret: secret, agent: "kazasu/\(Program.version)")
        }
    }

    // MARK: The body

    private static let longestTemplate = 64 << 10

    private static func body(_ name: String) throws(CommandError) -> WebhookBody {
        if let preset = WebhookBody.Preset(rawValue: name) { return WebhookBody(preset, language: Language.current) }
        let bytes: [UInt8]
        do throws(CommandError) {
            bytes = try Files.read(name, limit: longestTemplate)
        } catch {
            guard error.status == .missingFile, !name.contains("/") else { throw error }
            let names = WebhookBody.Preset.allCases.map(\.rawValue)
            var failure = error
            failure.hint =
                NearestName.of(name, among: names).map { Remedy.didYouMean.text($0) }
                ?? Remedy.webhookBodies.text(names.joined(separator: tr(", ", "、")))
            throw failure
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.webhookBodyNotUTF8, values: [name])
        }
        do throws(WebhookBody.Fault) {
            return try WebhookBody(template: text, language: Language.current)
        } catch {
            throw Self.error(error, name)
        }
    }

    private static func error(_ fault: WebhookBody.Fault, _ path: String) -> CommandError {
        let fields = WebhookBody.Field.allCases.map(\.rawValue)
        switch fault {
        case .empty: return CommandError(.webhookBodyEmpty, values: [path])
        case .notJSON(let error): return CommandError(.webhookBodyNotJSON, values: [path, "\(error)"])
        case .unknownField(let field, let line):
            let hint =
                NearestName.of(field, among: fields).map { Remedy.didYouMean.text("{\($0)}") }
                ?? Remedy.webhookFields.text(fields.joined(separator: tr(", ", "、")))
            return CommandError(.webhookBodyField, values: [CommandError.place(path, line), "{\(field)}", hint])
        }
    }
}
