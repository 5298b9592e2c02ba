// SPDX-License-Identifier: Apache-2.0

internal import Kazasu
internal import ReaderCore

/// Who decides what a person is shown whose card came: a program, or a web server.
///
/// It is asked once for each card, and nothing is repeated: a person who waits for a light would not see a later one.
@nonexhaustive
public enum Asker: Hashable, Sendable {
    /// The program at this path, run without a shell and without arguments. The event is its standard input. Status 0 is yes,
    /// 10 no, anything else a fault.
    case program(String)
    /// A POST of the event to this URL: 2xx is yes, 403 no, anything else a fault.
    case url(String)

    /// The status with which a program says no.
    static let refusal = 10

    /// Asks, and waits for the answer.
    ///
    /// An asker that crashes, or has not answered within the limit, is a fault. What it answers later, or again, changes
    /// nothing; a program is ended. If the task is cancelled, that is a fault, too, once the program has ended.
    ///
    /// - Parameters:
    ///   - event: the card's `on`.
    ///   - limit: how long it may take.
    public func answer(to event: StoredEvent, within limit: Duration) async -> TapEvent.Verdict {
        await ask(about: event, within: limit).decision.verdict
    }

    /// The same, with what is left of an asker that took too long.
    func ask(about event: StoredEvent, within limit: Duration) async -> Answering.Asked {
        let decision = OneShot<Answering.Decision>()
        let asking = Task {
            switch self {
            case .program(let path):
                decision.give(Self.decision(await ExecSink(path, timeout: limit).outcome(of: event)))
            case .url(let url):
                let sink = WebhookSink(url, secret: nil, timeout: limit, agent: "kazasu")
                decision.give(Self.decision(await sink.response(to: event)))
                await sink.close()
            }
        }
        let timer = Task.after(limit) { decision.give(.fault("timeout")) }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            let answer = await decision.value
            if Task.isCancelled { await asking.value }
            return Answering.Asked(decision: answer, rest: asking)
        } onCancel: {
            asking.cancel()
            decision.give(.fault("cancelled"))
        }
    }

    private static func decision(_ end: ExecSink.End) -> Answering.Decision {
        switch end {
        case .status(0): .yes
        case .status(refusal): .no
        case .status(let code): .fault("exit\(code)")
        case .failed(let reason): .fault(reason)
        }
    }

    private static func decision(_ response: WebhookSink.Response) -> Answering.Decision {
        switch response {
        case .status(200..<300, _): .yes
        case .status(403, _): .no
        case .status(let status, _): .fault("status\(status)")
        case .failed(let reason): .fault(reason)
        }
    }
}
