// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Kazasu
package import Recordings

/// A recording that is ready to be saved, and why it ended early.
package struct CourseRecording {
    /// The masked file.
    package var text: String
    /// The reader's model, with which the file's name begins.
    package var model: String
    package var failure: CommandError?
    /// Whether the reader could be opened.
    package var isOpened = true

    // MARK: The fixed course

    /// Runs the course on an open reader and closes it.
    ///
    /// - Parameters:
    ///   - id: the reader's.
    ///   - link: the traffic below it.
    ///   - hasCard: whether a card is part of the course.
    ///   - ask: asks the person at the reader; `nil` leaves that part out.
    package init(
        _ reader: any Reader, id: String, link: LinkRecorder, hasCard: Bool, wait: CardWait, _ context: Context,
        findings: Recording.Outcome = CourseRecording.findings(), ask: ((ReaderCourse.Request) -> Bool)?
    ) {
        defer { reader.close() }
        let recorder = CourseRecorder(reader, link: link, now: { link.elapsed })
        recorder.add(section: "doctor", findings)
        let isPlayed = id.hasPrefix("replay:")
        let note = !hasCard || isPlayed ? nil : WaitingNote(context)
        let person: ((ReaderCourse.Request) -> Bool)? = ask.map { ask in
            { request in
                note?.end()
                return ask(request)
            }
        }
        let course = ReaderCourse(recorder, cancellation: context.cancellation, ask: isPlayed ? nil : person)
        let ending = course.run(hasCard: hasCard, wait: isPlayed ? .once : wait)
        note?.end()
        let header = Self.header(.reader, reader.information, isSimulated: Self.isSimulated(id), system: Self.system)
        self.init(header, recorder.lines(isComplete: ending == .complete), Self.failure(ending))
    }

    /// A reader that does not open: what `kazasu doctor` finds is worth sending.
    package init(unopened id: String, _ failure: CommandError?, findings: Recording.Outcome) {
        let header = Self.header(
            .reader, ReaderInformation(id: id, name: ""), isSimulated: Self.isSimulated(id), system: Self.system)
        let items: [Recording.Item] = [
            .section("doctor"), .outcome(findings), .end(isComplete: false, sections: ["doctor"]),
        ]
        self.init(header, RecordingMask.apply(items).map(\.item), failure)
        isOpened = false
    }

    private init(_ header: Recording.Header, _ items: [Recording.Item], _ failure: CommandError?) {
        text = ([header.line] + items.map(\.line)).map { $0 + "\n" }.joined()
        model = header.reader.name
        self.failure = failure
    }

    private static func failure(_ ending: ReaderCourse.Ending) -> CommandError? {
        switch ending {
        case .complete: nil
        case .noCard: .noCard()
        case .failed(let error): CommandError(error)
        case .timeOver:
            CommandError(.courseTooLong)
        }
    }

    // MARK: The last command that failed

    /// What was kept of it, with what `kazasu doctor` finds now.
    ///
    /// - Throws: ``CommandError`` with status 66 if nothing was kept.
    package static func problem() throws(CommandError) -> CourseRecording {
        var (header, items) = try KeptProblem.read()
        header.system = system
        if case .end(_, let sections)? = items.popLast() {
            items = [.section("doctor"), .outcome(findings())] + items
            items.append(.end(isComplete: false, sections: ["doctor"] + sections))
        }
        return CourseRecording(RecordingMask.apply(header), RecordingMask.apply(items).map(\.item), nil)
    }

    // MARK: The first line

    /// The masked first line.
    package static func header(
        _ course: Recording.Course, _ information: ReaderInformation, isSimulated: Bool, system: [String: String]
    ) -> Recording.Header {
        var reader = information
        reader.name = RecordingWords.model(id: information.id, name: information.name)
        return RecordingMask.apply(
            Recording.Header(
                course: course, tool: "kazasu \(RootCommand.version)",
                day: String(Timestamp.now.description.prefix(10)),
                reader: reader, isSimulated: isSimulated, system: system))
    }

    /// The first line of a trace: masked, or with the reader as it is named on this machine.
    static func traceHeader(_ information: ReaderInformation, id: String, isMasked: Bool) -> Recording.Header {
        var header = header(.trace, information, isSimulated: isSimulated(id), system: system)
        if !isMasked { header.reader = information }
        return header
    }

    /// The versions of what is below Kazasu.
    private static var system: [String: String] {
        var system = Dictionary(
            ReaderRegistry.libraryVersions.map { ($0.name, $0.version) }, uniquingKeysWith: { first, _ in first })
        let names = ["ID", "VERSION_ID"].compactMap(MachineVersions.distribution)
        system["distribution"] = names.isEmpty ? nil : names.joined(separator: " ")
        system["kernel"] = RecordingWords.leadingVersion(MachineVersions.kernelRelease)
        system["pcscd"] = MachineVersions.pcscd
        system["libccid"] = MachineVersions.libccid
        return system
    }

    /// Whether a reader is a program: a card from a file, a USB device of umockdev, or a chip on a pseudo-terminal.
    static func isSimulated(_ id: String) -> Bool {
        if ReaderRegistry.isSimulated(id) || getenv("UMOCKDEV_DIR") != nil { return true }
        let port = id.split(separator: ":").dropFirst().first { $0.hasPrefix("/") }
        guard let port, let path = realpath(String(port), nil) else { return false }
        defer { free(path) }
        return String(cString: path).hasPrefix("/dev/pts/")
    }

    /// What `kazasu doctor` finds, in codes.
    package static func findings() -> Recording.Outcome {
        findings(ReaderDiagnosis.Doctor(Machine(environment: SystemEnvironment.all)).examine())
    }

    package static func findings(_ diagnosis: Diagnosis) -> Recording.Outcome {
        var outcome = Recording.Outcome(status: diagnosis.isReady ? 0 : 69)
        outcome.findings =
            diagnosis.readers.flatMap { reader in
                let model = RecordingWords.model(id: reader.model.driver ?? "", name: reader.model.name)
                return reader.checks.map { Recording.Outcome.Finding(code: $0.code.rawValue, model: model) }
            } + diagnosis.system.map { Recording.Outcome.Finding(code: $0.code.rawValue, model: nil) }
        outcome.devices = diagnosis.readers.map {
            Recording.Outcome.Device(vendor: $0.device.vendor, product: $0.device.product, release: $0.device.release)
        }
        return outcome
    }

    // MARK: Showing

    /// Shows the whole file, then asks whether to save it.
    ///
    /// - Returns: `false` if the answer is no, after saying so.
    package func isWanted(_ context: Context) throws(CommandError) -> Bool {
        Pager.show(text)
        do throws(CommandError) {
            try Confirmation.ask(tr("Save this?", "これを保存しますか？"))
        } catch {
            guard error.status == .interrupted, !Interrupt.token.isCancelled else { throw error }
            context.note(tr("nothing was saved", "保存しませんでした"))
            return false
        }
        return true
    }

    /// Checks the masking: a value that is left over must not leave the machine.
    package func check() throws(CommandError) {
        let faults = RecordingCheck(Array(text.utf8), name: nil).faults
        guard faults.isEmpty else { throw CommandError.bug("recording, line \(faults[0].line)") }
    }
}

/// Shows a long text to the person at the terminal.
private enum Pager {
    /// By the program that `PAGER` names, else `less`; on standard error where there is neither.
    static func show(_ text: String) {
        let name = getenv("PAGER").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "less"
        guard Output.messagesAreOnTerminal, let pipe = popen(name, "w") else { return Output.message(text) }
        fputs(text, pipe)
        // A shell reports a program that is missing with 127.
        if pclose(pipe) == 127 << 8 { Output.message(text) }
    }
}
