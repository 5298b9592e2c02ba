// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// One connection: takes requests one after another within the limits, and sends their answers.
///
/// While a request is answered, nothing more is read, so that a client that sends many at once waits for its answers. The
/// end of the connection is noticed anyway and cancels the request.
final class HTTPConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Phase {
        /// Between requests.
        case idle
        /// The head was accepted, the body arrives.
        case arriving(HTTPHead, HTTPAdmission)
        /// The request arrived and is being answered.
        case answering(HTTPHead, since: ContinuousClock.Instant)
        case streaming(any HTTPStreamSource)
        /// Refused: what still arrives is dropped until the client closes.
        case lingering
        /// Another protocol took over, or it is closed.
        case ended
    }

    private let site: any HTTPSite
    private let limits: HTTPLimits
    private let peer: HTTPPeer
    /// The fault to answer at once instead of serving.
    private let initialFault: ServeError?

    private var phase = Phase.idle
    private var body = ByteBuffer()
    private let room: BodyRoom
    /// The room of the body, if it is large.
    private var lease: BodyRoom.Lease?
    /// Whether the body waits for room before it is read.
    private var isWaitingForRoom = false
    /// Whether part of the next head arrived.
    private var isHeadBegun = false
    private var context: ChannelHandlerContext?
    private var task: Task<Void, Never>?
    private var deadline: Scheduled<Void>?
    /// Parts that arrived together with the request that is being answered.
    private var waiting = CircularBuffer<HTTPServerRequestPart>()
    private var isReadWanted = false
    private var keepsAlive = true
    private var isInputClosed = false
    private var responseVersion = HTTPVersion.http1_1

    init(
        _ site: any HTTPSite, _ limits: HTTPLimits, _ room: BodyRoom, from peer: HTTPPeer, fault: ServeError? = nil
    ) {
        (self.site, self.limits, self.room, self.peer, initialFault) = (site, limits, room, peer, fault)
    }

    // MARK: Channel

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        if let initialFault {
            refuse(initialFault, context)
        } else {
            setDeadline(limits.arrival, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        self.context = nil
    }

    /// While a request is being answered, or its body waits for room, the socket is not read.
    func read(context: ChannelHandlerContext) {
        if isBusy { isReadWanted = true } else { context.read() }
    }

    private var isBusy: Bool {
        switch phase {
        case .answering, .streaming: true
        case .arriving: isWaitingForRoom
        case .idle, .lingering, .ended: false
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if isBusy { waiting.append(part) } else { take(part, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        isInputClosed = true
        switch phase {
        case .idle, .arriving, .lingering: context.close(promise: nil)
        // Half-closed clients may still read: cancel waiting for a card, answer everything else.
        case .answering: task?.cancel()
        case .streaming: context.close(promise: nil)
        case .ended: break
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if case .streaming(let source) = phase, context.channel.isWritable { source.becameWritable() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch phase {
        case .idle, .arriving:
            switch error {
            case HTTPParserError.headerOverflow: refuse(.headersTooLarge, context)
            case HTTPParserError.invalidVersion: refuse(.unknownVersion, context)
            case is HTTPParserError: refuse(.malformed, context)
            default: context.close(promise: nil)
            }
        // The request is answered; what follows it is not.
        case .answering where error is HTTPParserError: keepsAlive = false
        case .lingering where error is HTTPParserError || error is ByteToMessageDecoderError: break
        case .answering, .streaming, .lingering, .ended: context.close(promise: nil)
        }
    }

    // MARK: Requests

    /// Bytes arrived, which the parser gets next.
    func bytesArrived() {
        guard case .idle = phase, !isHeadBegun, let context else { return }
        isHeadBegun = true
        setDeadline(limits.arrival, context)
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch (part, phase) {
        case (.head(let head), .idle): begin(head, context)
        case (.body, .arriving(_, .refused)): break
        case (.body(let bytes), .arriving):
            guard body.readableBytes + bytes.readableBytes <= limits.body else { return refuse(.bodyTooLarge, context) }
            body.writeImmutableBuffer(bytes)
        case (.end, .arriving(let head, .accepted(let answer))):
            let request = HTTPRequest(head: head, body: body)
            body = ByteBuffer()
            begin(request, context, answer)
        case (.end, .arriving(let head, .refused(let response, _))):
            answer(head, response, context)
        case (.end, .arriving(let head, .immediate(let response))):
            body = ByteBuffer()
            answer(head, response(), context)
        default: break
        }
    }

    /// Sends a response that nothing has to be waited for.
    private func answer(_ head: HTTPHead, _ response: HTTPResponse, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = nil
        lease = nil
        phase = .answering(head, since: .now)
        send(.response(response), context)
    }

    private func begin(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        // A pipelined request starts its deadline here; others started theirs at their first byte.
        if !isHeadBegun { setDeadline(limits.arrival, context) }
        isHeadBegun = false
        keepsAlive = request.isKeepAlive
        responseVersion = request.version
        let head = HTTPHead(request, from: peer)
        if let fault = fault(in: request) { return refuse(fault, context) }
        let admission = site.admit(head)
        // A body in chunks may have any length that is allowed.
        let isChunked = head.headers.contains(name: "Transfer-Encoding")
        let length = isChunked ? limits.body : head.only("Content-Length").flatMap { Int($0) } ?? 0
        let isWaiting = request.version == .http1_1 && head.headers.contains(name: "Expect")
        if case .refused(let response, let closes) = admission,
            closes || isWaiting || isChunked || length > BodyRoom.small
        {
            site.note(head, status: response.status, time: .zero)
            return refuse(response, head: head, context)
        }
        phase = .arriving(head, admission)
        let expectation = request.version == .http1_1 ? head.headers["Expect"].first : nil
        guard expectation.map({ $0.lowercased() == "100-continue" }) ?? true else {
            return refuse(.unknownExpectation, context)
        }
        guard length > BodyRoom.small else { return welcome(head, context) }
        let (eventLoop, onLoop) = (context.eventLoop, onLoop(context))
        lease = room.lease(length) { lease in eventLoop.execute { onLoop { $0.take(lease, $1) } } }
        if lease == nil { isWaitingForRoom = true } else { welcome(head, context) }
    }

    /// There is room for the body now.
    private func take(_ lease: BodyRoom.Lease, _ context: ChannelHandlerContext) {
        guard isWaitingForRoom, case .arriving(let head, _) = phase else { return }
        (self.lease, isWaitingForRoom) = (lease, false)
        setDeadline(limits.arrival, context)
        welcome(head, context)
        resume(context)
    }

    /// Lets the body come.
    private func welcome(_ head: HTTPHead, _ context: ChannelHandlerContext) {
        guard head.version == .http1_1, head.headers.contains(name: "Expect") else { return }
        let go = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(Self.wrapOutboundOut(.head(go)), promise: nil)
    }

    /// What the parser lets pass, but this server does not.
    private func fault(in request: HTTPRequestHead) -> ServeError? {
        guard request.version == .http1_1 || request.version == .http1_0 else { return .unknownVersion }
        let codings = request.headers["Transfer-Encoding"]
        guard !codings.isEmpty else {
            let lengths = request.headers["Content-Length"]
            guard let length = lengths.first else { return nil }
            guard lengths.count == 1, let count = Int(length), count >= 0 else { return .malformed }
            return count > limits.body ? .bodyTooLarge : nil
        }
        guard request.version == .http1_1, !request.headers.contains(name: "Content-Length") else { return .malformed }
        return codings.count == 1 && codings.first?.lowercased() == "chunked" ? nil : .unknownCoding
    }

    private func begin(
        _ request: HTTPRequest, _ context: ChannelHandlerContext,
        _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPAnswer
    ) {
        deadline?.cancel()
        deadline = nil
        phase = .answering(request.head, since: .now)
        let (eventLoop, onLoop, lease) = (context.eventLoop, onLoop(context), lease)
        self.lease = nil
        task = Task {
            let answer = await answer(request)
            // Also of a client that left, the body is in memory until now.
            withExtendedLifetime(lease) {}
            eventLoop.execute { onLoop { $0.send(answer, $1) } }
        }
        if isInputClosed { task?.cancel() }
    }

    // MARK: Answers

    private func send(_ answer: HTTPAnswer, _ context: ChannelHandlerContext) {
        guard case .answering(let head, let start) = phase else { return }
        task = nil
        switch answer {
        case .response(let response):
            site.note(head, status: response.status, time: .now - start)
            if isInputClosed { keepsAlive = false }
            write(response, to: head, context)
            finish(context)
        case .stream(let response, let open):
            site.note(head, status: response.status, time: .now - start)
            keepsAlive = false
            context.writeAndFlush(Self.wrapOutboundOut(.head(self.head(of: response))), promise: nil)
            // A stream has no end of its own: a client that sent its end gets nothing of it.
            guard head.method != .HEAD, !isInputClosed else { return finish(context) }
            let onLoop = onLoop(context)
            phase = .streaming(open(HTTPStream(context.channel) { onLoop { $0.finish($1) } }))
        case .webSocket(let response, let open):
            site.note(head, status: response.status, time: .now - start)
            upgrade(response, open, context)
        }
    }

    /// Writes all of a response but its end.
    ///
    /// - Parameter request: `nil` if it did not arrive.
    private func write(_ response: HTTPResponse, to request: HTTPHead?, _ context: ChannelHandlerContext) {
        var responseHead = self.head(of: response)
        if response.status.mayHaveResponseBody {
            responseHead.headers.replaceOrAdd(name: "Content-Length", value: "\(response.body.readableBytes)")
        }
        context.write(Self.wrapOutboundOut(.head(responseHead)), promise: nil)
        if request?.method != .HEAD, response.status.mayHaveResponseBody, response.body.readableBytes > 0 {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
    }

    private func head(of response: HTTPResponse) -> HTTPResponseHead {
        var head = HTTPResponseHead(version: responseVersion, status: response.status, headers: response.headers)
        head.headers.replaceOrAdd(name: "Date", value: HTTPDate.now)
        if !keepsAlive {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if responseVersion == .http1_0 {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        return head
    }

    /// Ends the response; then goes on with the next request, or closes.
    private func finish(_ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: written)
        setDeadline(limits.sending, context)
        let onLoop = onLoop(context)
        written.futureResult.whenComplete { _ in onLoop { $0.next($1) } }
    }

    /// The response was written.
    private func next(_ context: ChannelHandlerContext) {
        switch phase {
        case .answering, .streaming: break
        case .idle, .arriving, .lingering, .ended: return
        }
        guard keepsAlive, !isInputClosed else { return linger(context) }
        phase = .idle
        setDeadline(limits.idle, context)
        resume(context)
    }

    /// Goes on with what arrived meanwhile, and with reading.
    private func resume(_ context: ChannelHandlerContext) {
        while !isBusy, let part = waiting.popFirst() { take(part, context) }
        if !isBusy, isReadWanted {
            isReadWanted = false
            context.read()
        }
    }

    // MARK: The end

    private func refuse(_ fault: ServeError, _ context: ChannelHandlerContext) {
        refuse(site.response(to: fault), head: nil, context)
    }

    /// Answers a request that did not wholly arrive, and closes the connection: what follows could be anything.
    private func refuse(_ response: HTTPResponse, head: HTTPHead?, _ context: ChannelHandlerContext) {
        keepsAlive = false
        write(response, to: head, context)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        linger(context)
    }

    /// Closes so that the client gets the response even if it is still sending: closing with unread input resets the
    /// connection, and the response would be lost.
    private func linger(_ context: ChannelHandlerContext) {
        if case .streaming(let source) = phase { source.closed() }
        phase = .lingering
        giveUpBody()
        if isInputClosed { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        setDeadline(limits.lingering, context)
        if isReadWanted {
            isReadWanted = false
            context.read()
        }
    }

    private func end() {
        deadline?.cancel()
        deadline = nil
        task?.cancel()
        task = nil
        giveUpBody()
        if case .streaming(let source) = phase { source.closed() }
        phase = .ended
    }

    private func giveUpBody() {
        waiting.removeAll()
        (body, lease, isWaitingForRoom) = (ByteBuffer(), nil, false)
    }

    private func upgrade(
        _ response: HTTPResponse, _ open: @Sendable (any Channel) throws -> Void, _ context: ChannelHandlerContext
    ) {
        deadline?.cancel()
        deadline = nil
        let head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        phase = .ended
        let pipeline = context.pipeline.syncOperations
        do {
            try open(context.channel)
            // The parser gives up the bytes that arrived after the request when it is removed, to the next handler.
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let isReadWanted = isReadWanted
            let channel = context.channel
            _ = pipeline.removeHandler(encoder)
            _ = pipeline.removeHandler(context: context)
            pipeline.removeHandler(decoder).whenComplete { _ in if isReadWanted { channel.read() } }
        } catch {
            context.close(promise: nil)
        }
    }

    // MARK: Time

    private func setDeadline(_ limit: Duration, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let onLoop = onLoop(context)
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(limit)) { onLoop { $0.expire($1) } }
    }

    private func expire(_ context: ChannelHandlerContext) {
        deadline = nil
        switch phase {
        case .arriving: refuse(isWaitingForRoom ? .tooManyBodies : .tooSlow, context)
        case .idle where isHeadBegun: refuse(.tooSlow, context)
        case .idle, .answering, .streaming, .lingering: context.close(promise: nil)
        case .ended: break
        }
    }
}

extension ChannelHandler where Self: SendableMetatype {
    /// What passes this handler and its context on, for closures that run on their event loop later.
    func onLoop(
        _ context: ChannelHandlerContext
    ) -> @Sendable (_ body: (Self, ChannelHandlerContext) -> Void) -> Void {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        return { body in
            let (handler, context) = bound.value
            body(handler, context)
        }
    }
}

/// Stands before the parser and notices when a request begins to arrive.
final class HTTPArrivalMonitor: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let begin: () -> Void

    init(_ begin: @escaping () -> Void) { self.begin = begin }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        begin()
        context.fireChannelRead(data)
    }
}
