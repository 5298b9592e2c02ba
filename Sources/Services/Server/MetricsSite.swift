// SPDX-License-Identifier: Apache-2.0

package import CardModel
internal import NIOHTTP1
package import KazasuTaps

extension Metrics {
    /// The answer of `/metrics`.
    func response(_ outbox: Outbox?) async -> HTTPResponse {
        let text = text(try? await outbox?.status(), now: Timestamp.now.milliseconds)
        return HTTPResponse(text: text, type: "text/plain; version=0.0.4; charset=utf-8")
    }
}

/// What `--metrics` of `watch` serves: only the metrics.
package struct MetricsSite: HTTPSite {
    private let metrics: Metrics
    private let outbox: Outbox?
    private let access = ServeAccess()
    private let language: Language

    package init(_ metrics: Metrics, _ outbox: Outbox?, language: Language) {
        (self.metrics, self.outbox, self.language) = (metrics, outbox, language)
    }

    package func admit(_ head: HTTPHead) -> HTTPAdmission {
        do throws(ServeError) {
            try access.checkHost(head)
            _ = try access.checkOrigin(head, isPage: false)
            guard head.path == "/metrics" else { throw .unknownPath }
            guard [.GET, .HEAD].contains(head.method) else { throw .wrongMethod(allowed: ["GET", "HEAD"]) }
            return .accepted { [metrics, outbox] _ in .response(await metrics.response(outbox)) }
        } catch {
            return .refused(error.response(in: language), closes: error.isAboutHost)
        }
    }

    package func response(to fault: ServeError) -> HTTPResponse { fault.response(in: language) }
}
