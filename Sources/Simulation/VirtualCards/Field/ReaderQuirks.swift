// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// Oddities of real readers: switches of `virtual.quirks` that change the reader that is simulated with the card.
package struct ReaderQuirks: Hashable, Sendable {
    package static let none = ReaderQuirks()

    // A PN532 on a serial line.

    /// The number of commands from the first on that are lost.
    package var deafCommands = 0
    /// How late the first ACK is.
    package var firstAcknowledgeDelay = Duration.zero
    /// The bytes before each frame of the chip.
    package var strayBytes: [UInt8] = []
    /// Whether the line returns what the host sends.
    package var echoes = false
    /// The answer to GetFirmwareVersion in place of the model's.
    package var firmwareVersion: [UInt8]?
    /// The commands that get the syntax error frame.
    var refusedCommands: Set<UInt8> = []
    /// The commands that are acknowledged and not answered.
    package var unansweredCommands: Set<UInt8> = []
    /// The items of RFConfiguration that get the syntax error frame.
    var refusedSettings: Set<UInt8> = []
    /// The modulations for which InListPassiveTarget gets the syntax error frame.
    var refusedModulations: Set<UInt8> = []
    /// Whether the speed stays although a new one was accepted.
    package var keepsSpeed = false
    /// Whether nothing wakes the chip after PowerDown.
    package var diesAsleep = false
    /// Bits that are set in the status of InDataExchange.
    package var statusBits: UInt8 = 0
    /// How many REQB are not heard after the field came on.
    package var coldRequestsB = 0
    /// The InCommunicateThru at which power is lost, from 1.
    package var brownout: Int?

    /// An ACR122U around it.
    package var acr122 = ACR122Quirks()
    /// An RC-S380.
    package var port100 = Port100Quirks()

    package init() {}

    init(_ quirks: CardQuirks) throws(DocumentError) {
        func count(_ name: CardQuirks.Name, usual: Double) throws(DocumentError) -> Int? {
            try quirks.number(name, usual: usual).map { Int($0) }
        }
        deafCommands = try count(.hsuDeaf, usual: 1) ?? 0
        firstAcknowledgeDelay = .milliseconds(try count(.hsuLateACK, usual: 50) ?? 0)
        strayBytes = try quirks.byte(.hsuStray, usual: 0).map { [$0] } ?? []
        echoes = quirks.has(.hsuEcho)
        if quirks.has(.oldFirmware) { firmwareVersion = [0x32, 0x01, 0x04, 0x07] }
        if quirks.has(.noVersion) { unansweredCommands = [0x02] }
        if quirks.has(.versionError) { refusedCommands.insert(0x02) }
        if quirks.has(.noDiagnose) { refusedCommands.insert(0x00) }
        if quirks.has(.noBaud) { refusedCommands.insert(0x10) }
        if quirks.has(.noRates) { refusedCommands.insert(0x4E) }
        if quirks.has(.noType) || quirks.has(.acrChipError) { refusedModulations = [0x03] }
        refusedSettings = try quirks.byte(.noConfiguration, usual: 0x05).map { [$0] } ?? []
        keepsSpeed = quirks.has(.lyingBaud)
        diesAsleep = quirks.has(.deadPowerDown)
        if quirks.has(.statusBit) { statusBits = 0x80 }
        coldRequestsB = try count(.coldTypeB, usual: 1) ?? 0
        brownout = try count(.brownout, usual: 10)
        acr122 = try ACR122Quirks(quirks)
        port100 = try Port100Quirks(quirks)
    }

    /// Whether a command gets the syntax error frame.
    package func refuses(_ command: [UInt8]) -> Bool {
        guard let code = command.first else { return false }
        if refusedCommands.contains(code) { return true }
        switch (code, command.count) {
        case (0x32, 2...): return refusedSettings.contains(command[1])
        case (0x4A, 3...): return refusedModulations.contains(command[2])
        default: return false
        }
    }
}

/// Oddities of an ACR122U and its copies.
package struct ACR122Quirks: Hashable, Sendable {
    /// Whether each answer is that to the command before.
    package enum Lag: Hashable, Sendable {
        case none
        /// With the sequence number of the present command.
        case renumbered
        /// With that of the command before.
        case asItWas
    }

    package var lag = Lag.none
    package var answersFirstTwice = false
    package var ignoresLights = false
    package var ignoresPICC = false
    /// bError of answers with data; `nil` for the usual one.
    package var errorByte: UInt8?
    /// bStatus of answers with data.
    package var statusByte: UInt8 = 0
    /// Whether a search without a card gets an empty block.
    package var answersEmptySearches = false
    package var refusesEscape = false
    /// The number of requests for more time before each answer.
    package var timeExtensions = 0
    /// The firmware's name; `nil` for the usual one.
    package var name: String?

    init() {}

    init(_ quirks: CardQuirks) throws(DocumentError) {
        if quirks.has(.acrLag) { lag = .renumbered }
        if quirks.has(.acrLagSequence) { lag = .asItWas }
        answersFirstTwice = quirks.has(.acrTwice)
        ignoresLights = quirks.has(.acrNoLED)
        ignoresPICC = quirks.has(.acrNoPICC)
        if quirks.has(.acrErrorFE) { errorByte = 0xFE }
        if quirks.has(.acrStatus02) { statusByte = 0x02 }
        answersEmptySearches = quirks.has(.acrEmpty)
        refusesEscape = quirks.has(.acrNoEscape)
        timeExtensions = Int(try quirks.number(.acrMoreTime, usual: 3) ?? 0)
        // nfcpy/nfcpy#105.
        if quirks.has(.acrOtherName) { name = "RF1258V603" }
    }
}

/// Oddities of an RC-S380.
package struct Port100Quirks: Hashable, Sendable {
    /// Whether an answer of an earlier program waits.
    package var hasStaleAnswer = false
    /// Whether the first exchange with a card gets the error frame of five bytes.
    package var garblesFirstExchange = false
    /// Whether command type 1 is missing.
    package var lacksType1 = false
    /// Whether answers come in packets of 64 bytes.
    package var splitsAnswers = false
    /// How many exchanges with a card are refused, since the chip is too hot.
    package var hotExchanges = 0

    init() {}

    init(_ quirks: CardQuirks) throws(DocumentError) {
        hasStaleAnswer = quirks.has(.rcs380Stale)
        garblesFirstExchange = quirks.has(.rcs380Error)
        lacksType1 = quirks.has(.rcs380Type0)
        splitsAnswers = quirks.has(.rcs380Packets)
        hotExchanges = Int(try quirks.number(.rcs380Hot, usual: 1) ?? 0)
    }
}
