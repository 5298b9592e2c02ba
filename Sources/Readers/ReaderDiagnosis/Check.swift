// SPDX-License-Identifier: Apache-2.0

package import CardModel

/// One thing that was examined, the finding, and its fix.
package struct Check: Hashable, Sendable {
    /// The thing that was examined.
    package enum Layer: String, Hashable, Sendable, CaseIterable {
        /// Whether a reader is plugged in.
        case bus
        /// Whether Kazasu has a driver for it.
        case model
        /// Whether the user is allowed to open it.
        case permission
        case kernelDriver
        /// Whether another program holds it.
        case process
        /// Whether pcscd can be used, for readers that need it.
        case service
        /// Whether its firmware has known faults.
        case firmware
        /// libnfc's configuration files, and the environment.
        case configuration
        case serialPort
        /// The system: a real one, a container, WSL.
        case host
        /// Whether the named reader answers.
        case reader
    }

    /// The severity.
    package enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case ok
        /// Worth knowing.
        case note
        /// Works, but not as well as it could, or may mislead.
        case warning
        /// The reader cannot be used because of it.
        case fault
    }

    /// The finding.
    package let code: Code
    /// The values for `{0}`, `{1}` and so on.
    let values: [LocalizedText]
    private let row: CheckRow

    package init(_ code: Code, _ values: [LocalizedText]) {
        self.code = code
        self.values = values
        row = CheckRow.of(code)
    }

    package init(_ code: Code, _ values: String...) {
        self.init(code, values.map { LocalizedText($0, $0) })
    }

    /// The thing that was examined.
    package var layer: Layer { row.layer }
    /// The severity.
    package var verdict: Verdict { row.verdict }
    /// The finding, as a sentence without its full stop.
    package var message: LocalizedText { row.message.filled(values) }
    /// The fix; `nil` when nothing has to be fixed.
    package var remedy: LocalizedText? { remedy(listing: "'\(Check.listing)'") }
    private static let listing = "kazasu readers"

    /// The fix in the words of a caller.
    ///
    /// - Parameter listing: what the caller calls the command that lists readers, `{*}` in the table.
    package func remedy(listing: String) -> LocalizedText? {
        row.remedy?.filled(values, all: LocalizedText(listing, listing))
    }
}

/// The meaning of a ``Check/Code``: a row of `Data/checks.tsv`.
struct CheckRow: Hashable, Sendable {
    let code: Check.Code
    let layer: Check.Layer
    let verdict: Check.Verdict
    let message: LocalizedText
    let remedy: LocalizedText?

    static let table = FactTable(
        PackageResources.checks_tsv,
        columns: ["code", "layer", "verdict", "english", "japanese", "remedyEnglish", "remedyJapanese"],
        key: ["code"], row: CheckRow.init(_:))

    private static let byCode = Dictionary(
        table.rows.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })

    /// The row of a code; every code has one, which a test ensures.
    static func of(_ code: Check.Code) -> CheckRow {
        byCode[code] ?? CheckRow(code)
    }

    private init(_ code: Check.Code) {
        self.code = code
        (layer, verdict) = (.reader, .note)
        message = LocalizedText(code.rawValue, code.rawValue)
        remedy = nil
    }

    private init(_ row: FactRow) throws(FactTableError) {
        guard let code = try row.word("code", Check.Code.self), let layer = try row.word("layer", Check.Layer.self),
            let verdict = try row.word("verdict", Check.Verdict.self)
        else { throw row.fault("code", .empty) }
        (self.code, self.layer, self.verdict) = (code, layer, verdict)
        message = LocalizedText(try row.required("english"), try row.required("japanese"))
        let remedies = (try row.text("remedyEnglish"), try row.text("remedyJapanese"))
        if let english = remedies.0, let japanese = remedies.1 {
            remedy = LocalizedText(english, japanese)
        } else {
            guard remedies == (nil, nil) else { throw row.fault("remedyEnglish", .empty) }
            remedy = nil
        }
        // A fault without a fix helps nobody.
        if verdict == .fault || verdict == .warning, remedy == nil { throw row.fault("remedyEnglish", .empty) }
    }
}

/// The tables of this module.
package enum DiagnosisTables {
    /// The errors in them, by file name; a release has none.
    package static var faults: [String: [FactTableError]] {
        ["checks.tsv": CheckRow.table.faults, "firmware-faults.tsv": FirmwareWarning.table.faults]
            .filter { !$0.value.isEmpty }
    }
}

extension Check {
    /// The possible findings; the raw values are those of `kazasu.doctor/1`, and each has a row in `Data/checks.tsv`.
    @nonexhaustive
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case plugged
        case noReader
        case noUSBReader
        case strangeReader
        case driven
        case notDriven
        case permitted
        case noRule
        case ruleNotApplied
        case groupMissing
        case ruleMasked
        case notInGroup
        case ownedByPcscd
        case pcscdShutOut
        case noDeviceFile
        case noKernelDriver
        case kernelDriverYields
        case kernelDriverAway
        case unheld
        case pcscdBeside
        case heldByPcscd
        case heldByProgram
        case heldByUnknown
        case serviceThere
        case serviceHasReader
        case serviceMissing
        case serviceStopped
        case serviceSilent
        case serviceVersionMismatch
        case serviceLibraryMissing
        case serviceClosed
        case serviceRefuses
        case slotOpen
        case slotConnects
        case firmwareFine
        case firmwareFault
        case configurationFine
        case autoscanOff
        case intrusiveScan
        case configuredPortMissing
        case configuredDriverMissing
        case unreadFolder
        case tooManyDevices
        case environmentDevice
        case environmentAutoscan
        case environmentIntrusive
        case environmentLog
        case portFree
        case portMissing
        case portNotInGroup
        case portDenied
        case portInUse
        case portSpeed
        case plainHost
        case wsl
        case wslWithoutReader
        case container
        case containerWithoutReader
        case answers
        case answersNot
    }
}
