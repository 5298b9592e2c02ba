// SPDX-License-Identifier: Apache-2.0

internal import CardModel

/// The member `virtual.quirks` of a card file: oddities of real cards by name, as `["fel-slow=1.5", "two-cards"]`.
struct CardQuirks {
    enum Name: String, CaseIterable {
        /// Of several cards that answer at once, nothing is understood. A FeliCa card gets a second one beside it.
        case twoCards = "two-cards"
        /// Takes so many times the longest time of its PMm; 1.2 times unless told otherwise.
        case slow = "fel-slow"
        /// A count byte follows the status flags of a refused read.
        case countAfterRefusal = "fel-count0"
        /// Request System Code names the first system twice, and 0000.
        case doubledSystem = "fel-dup-system"
        /// Answers no command but Polling.
        case mute = "fel-mute"
        /// Stops answering Search Service Code at this index.
        case searchEnds = "fel-search-ends"
        /// It answers a Polling for any system.
        case anySystem = "fel-any-system"
        /// Its PMm is zeros.
        case zeroPMm = "fel-zero-pmm"
        /// It is deaf after a read of block 20 or above, until the field is off.
        case dropsBlocks = "fel-drop-0x20"
        /// It answers Request Service for so many nodes only; for one unless told otherwise.
        case fewNodes = "fel-few-nodes"
        /// It refuses a read of several services.
        case oneService = "fel-one-service"
        /// Every fourth answer, or every so many, carries another card's IDm.
        case otherAnswer = "fel-other-answer"
        /// Neither Request System Code nor Request Service is answered, and Search Service Code finds nothing.
        case octopus = "fel-octopus"
        /// Search Service Code is not answered.
        case searchMute = "fel-search-mute"
        /// A Polling gets no system code.
        case noRequestCode = "fel-no-request-code"
        /// It takes one block a read.
        case plug = "fel-plug"
        /// Its IDm is another one each time that it gets power.
        case randomIDm = "fel-random-idm"
        /// After a Search Service Code, two of three reads are not answered.
        case searchLoses = "fel-search-lost"
        /// Reads are refused with B1.
        case flagsB = "fel-flags-b"
        /// A Polling gets an answer of its own form, and nothing else is answered.
        case seac = "fel-seac"
        /// RATS is answered by a NAK.
        case ratsRefused = "dep-rats-nak"
        /// RATS is not answered.
        case ratsMute = "dep-rats-mute"
        /// PPS is not answered.
        case ratesIgnored = "dep-pps-mute"
        /// PPS is answered, and nothing that comes at the new speed.
        case ratesUnheard = "dep-pps-deaf"
        /// PPS is answered, and longer answers arrive damaged at the new speed.
        case ratesDamaged = "dep-pps-damage"
        /// SELECT fails when it asks for an answer (Le).
        case withoutLe = "dep-no-le"
        /// The ATQB says that there is no ISO-DEP, although ATTRIB is answered.
        case withoutISODEP = "b-not-iso"
        /// Asks for more time before each answer, 10 times or so many, 59 times its waiting time each.
        case moreTime = "dep-wtx"
        /// The request for more time has the bits of the power level, which the reader must not send back.
        case powerLevel = "dep-wtx-power"
        /// Its frames have 32 bytes.
        case smallFrames = "dep-fsc"
        /// Its ATS is the length byte alone.
        case emptyATS = "dep-ats1"
        /// DESELECT is not answered.
        case withoutDeselect = "dep-no-deselect"
        /// R(NAK) is not answered.
        case withoutNAK = "dep-no-nak"
        /// Its UID is another one each time that it gets power.
        case randomUID = "dep-random-uid"
        /// An Le that is larger than the answer gets 6Cxx.
        case exactLe = "dep-short-le"
        /// Answers are fetched by GET RESPONSE (61xx).
        case fetchedAnswers = "dep-61"
        /// SELECT fails with 6A82 unless it asks for an answer (Le).
        case onlyWithLe = "dep-strict-le"
        /// The ATQB has 13 bytes.
        case longATQB = "b-long"
        /// FWI is 15, which is reserved.
        case reservedTime = "b-fwi15"
        /// The answer to ATTRIB has a buffer size and data.
        case longAttribute = "b-attrib"
        /// It has no CID.
        case withoutCID = "b-no-cid"
        /// Its UID of four bytes begins with 88, as a cascade tag does.
        case uid88 = "a-uid88"
        /// The check byte of its UID is wrong.
        case wrongCheckByte = "a-bcc"
        /// Its ATQA tells another length of UID.
        case otherATQA = "a-atqa"
        /// It does not hear HLTA.
        case withoutHalt = "a-no-halt"
        /// Its capability container tells more memory than there is.
        case largeContainer = "t2-cc"
        /// It does not answer GET_VERSION, and has to be selected again.
        case withoutVersion = "t2-mute"
        /// It refuses FAST_READ.
        case withoutFastRead = "t2-no-ff"
        /// GET_VERSION names another manufacturer.
        case otherVersion = "t2-version"
        /// GET_VERSION gets seven bytes.
        case shortVersion = "t2-short-version"
        /// Its signature is zeros.
        case zeroSignature = "t2-sig0"
        /// It refuses a READ that would go beyond its last page.
        case withoutWrap = "t2-no-wrap"

        // Of the reader that is simulated with the card.

        /// Loses the first command, or so many.
        case hsuDeaf = "hsu-deaf"
        /// Sends the first ACK so many milliseconds late.
        case hsuLateACK = "hsu-late-ack"
        /// A byte precedes each frame: 00, or the one that is named.
        case hsuStray = "hsu-zero"
        /// The line returns what is sent.
        case hsuEcho = "hsu-echo"
        /// Firmware 1.4.
        case oldFirmware = "version"
        /// GetFirmwareVersion is not answered.
        case noVersion = "no-version"
        /// GetFirmwareVersion is refused.
        case versionError = "version-error"
        /// Diagnose is refused.
        case noDiagnose = "no-diagnose"
        /// Nothing wakes the chip after PowerDown.
        case deadPowerDown = "powerdown-dead"
        /// A search for cards of type B is refused.
        case noType = "no-type"
        /// RFConfiguration of item 05, or of the one that is named, is refused.
        case noConfiguration = "no-rfconfig"
        /// InPSL is refused.
        case noRates = "no-psl"
        /// SetSerialBaudRate is refused.
        case noBaud = "no-baud"
        /// SetSerialBaudRate is accepted, and the speed stays.
        case lyingBaud = "baud-lies"
        /// Bit 7 is set in the status of InDataExchange.
        case statusBit = "mi-status"
        /// The first REQB of a field is not heard, or so many.
        case coldTypeB = "cold-b"
        /// Power is lost at the tenth InCommunicateThru, or at another one.
        case brownout = "brownout"
        /// ACR122U: answers are one behind.
        case acrLag = "acr-lag"
        /// The same, with the sequence numbers of the commands that they answer.
        case acrLagSequence = "acr-lag-seq"
        /// The first answer comes twice.
        case acrTwice = "acr-twice"
        /// The LED command is not answered.
        case acrNoLED = "acr-no-led"
        /// The PICC parameter is not answered.
        case acrNoPICC = "acr-no-picc"
        /// Good data come with error FE.
        case acrErrorFE = "acr-error-fe"
        /// Good data come with status 02.
        case acrStatus02 = "acr-status-02"
        /// A search without a card is answered by an empty block and error FE.
        case acrEmpty = "acr-empty"
        /// Escape commands are refused.
        case acrNoEscape = "acr-no-6b"
        /// Three requests for more time, or so many, precede each answer.
        case acrMoreTime = "acr-wtx"
        /// A search for cards of type B is answered by 63 7F.
        case acrChipError = "acr-63-7f"
        /// It has the name of a copy.
        case acrOtherName = "acr-version"

        /// RC-S380: an answer of an earlier program waits.
        case rcs380Stale = "rcs380-stale"
        /// The first exchange with a card is answered by an error frame of five bytes.
        case rcs380Error = "rcs380-error"
        /// Supports command type 0 only.
        case rcs380Type0 = "rcs380-type0"
        /// Answers come in packets of 64 bytes, and no empty one ends them.
        case rcs380Packets = "rcs380-no-zlp"
        /// The first exchange with a card, or so many, is answered by status 40.
        case rcs380Hot = "rcs380-hot"

        /// Those that change the reader, whatever the card.
        static let ofReaders: Set<Name> = [
            .hsuDeaf, .hsuLateACK, .hsuStray, .hsuEcho, .oldFirmware, .noVersion, .versionError, .noDiagnose,
            .deadPowerDown, .noType, .noConfiguration, .noRates, .noBaud, .lyingBaud, .statusBit, .coldTypeB, .brownout,
            .acrLag,
            .acrLagSequence, .acrTwice, .acrNoLED, .acrNoPICC, .acrErrorFE, .acrStatus02, .acrEmpty, .acrNoEscape,
            .acrMoreTime, .acrChipError, .acrOtherName, .rcs380Stale, .rcs380Error, .rcs380Type0, .rcs380Packets,
            .rcs380Hot,
        ]
    }

    private var values: [Name: String] = [:]
    private let json: JSONCursor?

    /// - Parameters:
    ///   - json: the member, or `nil`.
    ///   - known: the quirks that a card of this kind may have.
    init(_ json: JSONCursor?, _ known: [Name] = Name.allCases) throws(DocumentError) {
        self.json = json
        for element in try json?.elements() ?? [] {
            let parts = try element.text().split(separator: "=", maxSplits: 1)
            guard let name = parts.first.flatMap({ Name(rawValue: String($0)) }),
                known.contains(name) || Name.ofReaders.contains(name)
            else {
                throw element.malformed(.oneOf, values: known.map(\.rawValue))
            }
            values[name] = parts.count == 2 ? String(parts[1]) : ""
        }
    }

    func has(_ name: Name) -> Bool { values[name] != nil }

    /// Whether one of them changes the reader.
    var haveReader: Bool { values.keys.contains(where: Name.ofReaders.contains) }

    /// The byte after the name in two hexadecimal digits; `usual` without one, `nil` if the card does not have the quirk.
    func byte(_ name: Name, usual: UInt8) throws(DocumentError) -> UInt8? {
        guard let text = values[name] else { return nil }
        if text.isEmpty { return usual }
        guard text.utf8.count == 2, let byte = UInt8(text, radix: 16) else {
            throw json?.malformed(.oneOf, values: ["\(name.rawValue)=05"]) ?? .missing(key: "quirks")
        }
        return byte
    }

    /// The number after the name; `usual` without one, `nil` if the card does not have the quirk.
    func number(_ name: Name, usual: Double) throws(DocumentError) -> Double? {
        guard let text = values[name] else { return nil }
        if text.isEmpty { return usual }
        guard let number = Double(text), (0...1000).contains(number) else {
            throw json?.malformed(.oneOf, values: ["\(name.rawValue)=\(usual)"]) ?? .missing(key: "quirks")
        }
        return number
    }
}
