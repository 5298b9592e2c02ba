// SPDX-License-Identifier: Apache-2.0

package import CardModel
package import NIOCore
package import NIOHTTP1

/// Where a request comes from.
package struct HTTPPeer: Sendable {
    /// A Unix socket, whose permissions are the protection.
    package var isUnixSocket: Bool
    /// The address of this computer that was connected to, without its port; `nil` for a Unix socket.
    package var localAddress: String?
}

/// A request without its body.
package struct HTTPHead: Sendable {
    package var method: HTTPMethod
    /// The path of the target, not decoded.
    package var path: String
    /// What follows the question mark, not decoded; `nil` without one.
    package var query: String?
    /// The host that the target itself names, as a request to a proxy does.
    package var authority: String?
    package var headers: HTTPHeaders
    package var version: HTTPVersion
    package var peer: HTTPPeer

    package init(_ head: HTTPRequestHead, from peer: HTTPPeer) {
        (method, headers, version, self.peer) = (head.method, head.headers, head.version, peer)
        var target = head.uri[...]
        if let scheme = target.firstRange(of: "://"), !target.hasPrefix("/") {
            target = target[scheme.upperBound...]
            let end = target.firstIndex { "/?".contains($0) } ?? target.endIndex
            authority = String(target[..<end])
            target = target[end...]
        }
        let mark = target.firstIndex(of: "?")
        path = String(target[..<(mark ?? target.endIndex)])
        query = mark.map { String(target[target.index(after: $0)...]) }
    }

    /// The only value of a header; `nil` if there is none, or several.
    package func only(_ name: String) -> String? {
        let values = headers[name]
        return values.count == 1 ? values.first : nil
    }
}

/// A request that has arrived.
package struct HTTPRequest: Sendable {
    package var head: HTTPHead
    package var body: ByteBuffer
}

/// A response with its whole body.
package struct HTTPResponse: Sendable {
    package var status: HTTPResponseStatus
    package var headers: HTTPHeaders
    package var body: ByteBuffer

    package init(_ status: HTTPResponseStatus, _ type: String? = nil, _ body: ByteBuffer = ByteBuffer()) {
        (self.status, self.body) = (status, body)
        headers = HTTPHeaders()
        if let type { headers.add(name: "Content-Type", value: type) }
    }

    package init(_ status: HTTPResponseStatus = .ok, json: JSONValue) {
        self.init(status, "application/json", ByteBuffer(string: json.compactText + "\n"))
    }

    package init(_ status: HTTPResponseStatus = .ok, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status, type, ByteBuffer(string: text))
    }

    /// The same with another header.
    package func with(_ name: String, _ value: String) -> HTTPResponse {
        var copy = self
        copy.headers.replaceOrAdd(name: name, value: value)
        return copy
    }
}

/// What happens to a request whose head has arrived.
package enum HTTPAdmission: Sendable {
    /// Once the request has arrived, this answers it; cancelled when the client goes away.
    case accepted(@Sendable (HTTPRequest) async -> HTTPAnswer)
    /// Once the request has arrived, this answers it on the event loop: at once, however much other work waits.
    case immediate(@Sendable () -> HTTPResponse)
    /// The response is known without the body. The connection goes on unless it says that it closes.
    case refused(HTTPResponse, closes: Bool)
}

/// How a request is answered.
package enum HTTPAnswer: Sendable {
    case response(HTTPResponse)
    /// The head is sent, and then what the stream writes until it ends. The function is called on the event loop.
    case stream(HTTPResponse, @Sendable (HTTPStream) -> any HTTPStreamSource)
    /// The connection becomes a WebSocket. The function is called on the event loop.
    case webSocket(HTTPResponse, @Sendable (any Channel) throws -> Void)
}

/// Writes the body of a response that has no end yet. Used only on the event loop.
package final class HTTPStream {
    private let channel: any Channel
    private let sendEnd: () -> Void
    private var isFlushWanted = false

    init(_ channel: any Channel, end: @escaping () -> Void) { (self.channel, sendEnd) = (channel, end) }

    package var eventLoop: any EventLoop { channel.eventLoop }

    /// Whether the client takes what is written; otherwise it waits in memory.
    package var isWritable: Bool { channel.isWritable }

    /// Writes bytes. What is written in one turn of the event loop is sent together, so that a server that is behind with
    /// many clients catches up.
    package func write(_ bytes: ByteBuffer) {
        channel.write(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
        // That much says nothing about the client yet.
        guard channel.isWritable else { return channel.flush() }
        guard !isFlushWanted else { return }
        isFlushWanted = true
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        eventLoop.execute { bound.value.flush() }
    }

    private func flush() {
        isFlushWanted = false
        channel.flush()
    }

    /// Ends the response and closes the connection once everything is written.
    package func end() { sendEnd() }
}

/// What feeds a stream. Called only on the event loop.
package protocol HTTPStreamSource: AnyObject {
    /// The client takes more.
    func becameWritable()
    /// The client is gone, or the server stops.
    func closed()
}

/// What is served.
package protocol HTTPSite: Sendable {
    /// Decides by its head whether a request is answered; called on the event loop.
    func admit(_ head: HTTPHead) -> HTTPAdmission

    /// The response to a connection that breaks the protocol or a limit.
    func response(to fault: ServeError) -> HTTPResponse

    /// A request was answered.
    func note(_ head: HTTPHead, status: HTTPResponseStatus, time: Duration)
}

extension HTTPSite {
    package func note(_ head: HTTPHead, status: HTTPResponseStatus, time: Duration) {}
}

/// The limits of connections.
package struct HTTPLimits: Sendable {
    /// Bytes of a body.
    package var body = 8 << 20
    /// Bytes of the bodies of all requests that are not answered yet.
    package var bodies = 64 << 20
    /// Bytes of the request line and the headers.
    package var headers = 16 << 10
    package var connections = 256
    /// How long a request may take to arrive.
    package var arrival = Duration.seconds(15)
    /// How long a connection may stay open between requests.
    package var idle = Duration.seconds(75)
    /// How long a client may take to receive a response.
    package var sending = Duration.seconds(60)
    /// How long a connection that was refused may go on sending before it is closed.
    package var lingering = Duration.seconds(2)

    package init() {}
}
