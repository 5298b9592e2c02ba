// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
internal import Synchronization

/// The handshake of a WebSocket (RFC 6455, 4.2).
struct WebSocketHandshake {
    let response: HTTPResponse

    init(_ head: HTTPHead) throws(ServeError) {
        guard head.version == .http1_1, head.method == .GET,
            head.headers[canonicalForm: "Upgrade"].contains(where: { $0.lowercased() == "websocket" }),
            head.headers[canonicalForm: "Connection"].contains(where: { $0.lowercased() == "upgrade" })
        else { throw .needsWebSocket }
        guard head.only("Sec-WebSocket-Version") == "13" else { throw .badWebSocketVersion }
        guard let key = head.only("Sec-WebSocket-Key"), Data(base64Encoded: key)?.count == 16 else {
            throw .malformed
        }
        response = HTTPResponse(.switchingProtocols)
            .with("Upgrade", "websocket").with("Connection", "Upgrade")
            .with("Sec-WebSocket-Accept", Self.accept(key))
    }

    static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = unsafe EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        return Data(digest).base64EncodedString()
    }
}

/// The side of the server: takes one message after another, and learns that the client went away.
package struct WebSocketSession: Sendable {
    /// Begins a session; the function that it gets sends a message and may be called from any thread.
    package typealias Connect = @Sendable (_ send: @escaping @Sendable (String) -> Void) -> WebSocketSession

    package var receive: @Sendable ([UInt8]) async -> Void
    package var close: @Sendable () -> Void

    package init(receive: @escaping @Sendable ([UInt8]) async -> Void, close: @escaping @Sendable () -> Void) {
        (self.receive, self.close) = (receive, close)
    }
}

/// A WebSocket that carries text messages both ways (RFC 6455).
final class WebSocketConnection: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private static let longestMessage = 8 << 20
    /// Messages that wait for the session, and their bytes; then nothing more is read.
    private static let (mostWaiting, mostWaitingBytes) = (16, longestMessage)
    private static let pingInterval = TimeAmount.seconds(30)
    private static let closeGrace = TimeAmount.seconds(2)

    private let connect: WebSocketSession.Connect
    private var session: WebSocketSession?
    private let (messages, message) = AsyncStream.makeStream(of: [UInt8].self)
    private var worker: Task<Void, Never>?
    private var (waiting, waitingBytes) = (0, 0)
    private var isReadWanted = false
    /// What arrived of a message in several frames.
    private var fragments: ByteBuffer?
    private var unsent = 0
    private var isClosing = false
    private var wasHeard = true
    private var ping: RepeatedTask?

    private init(_ connect: @escaping WebSocketSession.Connect) { self.connect = connect }

    /// Makes a connection speak WebSocket after its handshake. Called on its event loop.
    static func add(to channel: any Channel, _ connect: @escaping WebSocketSession.Connect) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(WebSocketFrameEncoder())
        try pipeline.addHandler(ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: longestMessage)))
        try pipeline.addHandler(WebSocketConnection(connect))
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let (eventLoop, onLoop) = (context.eventLoop, onLoop(context))
        let session = connect { text in
            eventLoop.execute { onLoop { $0.send(.text, ByteBuffer(string: text), $1) } }
        }
        self.session = session
        let messages = messages
        worker = Task {
            for await message in messages {
                await session.receive(message)
                let size = message.count
                eventLoop.execute { onLoop { $0.taken(size, $1) } }
            }
        }
        ping = eventLoop.scheduleRepeatedTask(initialDelay: Self.pingInterval, delay: Self.pingInterval) { _ in
            onLoop { $0.sendPing($1) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    private func end() {
        ping?.cancel()
        ping = nil
        message.finish()
        worker?.cancel()
        worker = nil
        session?.close()
        session = nil
        isClosing = true
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func read(context: ChannelHandlerContext) {
        if isBusy { isReadWanted = true } else { context.read() }
    }

    private var isBusy: Bool { waiting >= Self.mostWaiting || waitingBytes >= Self.mostWaitingBytes }

    private func taken(_ size: Int, _ context: ChannelHandlerContext) {
        waiting -= 1
        waitingBytes -= size
        guard isReadWanted, !isBusy else { return }
        isReadWanted = false
        context.read()
    }

    // MARK: Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = Self.unwrapInboundIn(data)
        wasHeard = true
        guard !isClosing else { return }
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return close(.protocolError, context) }
        switch frame.opcode {
        case .text where fragments == nil: append(frame, context)
        case .continuation where fragments != nil: append(frame, context)
        case .binary where fragments == nil: close(.unacceptableData, context)
        case .ping: send(.pong, frame.unmaskedData, context)
        case .pong: break
        case .connectionClose: answerClose(frame.unmaskedData, context)
        default: close(.protocolError, context)
        }
    }

    private func append(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        // The only reference: another one would have the bytes copied for each frame.
        var whole = fragments.take() ?? ByteBuffer()
        let part = frame.unmaskedData
        guard whole.readableBytes + part.readableBytes <= Self.longestMessage else {
            return close(.messageTooLarge, context)
        }
        whole.writeImmutableBuffer(part)
        guard frame.fin else {
            fragments = whole
            return
        }
        let bytes = Array(whole.readableBytesView)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            return close(.dataInconsistentWithMessage, context)
        }
        waiting += 1
        waitingBytes += bytes.count
        message.yield(bytes)
    }

    /// The client closes, with a code and a reason, or without both.
    private func answerClose(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
        var data = data
        guard data.readableBytes > 0 else { return close(.normalClosure, context) }
        guard let number = data.readInteger(as: UInt16.self), Self.isCloseCode(number) else {
            return close(.protocolError, context)
        }
        guard String(validating: data.readableBytesView, as: UTF8.self) != nil else {
            return close(.dataInconsistentWithMessage, context)
        }
        close(WebSocketErrorCode(codeNumber: Int(number)), context)
    }

    /// Whether a code may be in a close frame (RFC 6455, 7.4).
    private static func isCloseCode(_ code: UInt16) -> Bool {
        (1000...1003).contains(code) || (1007...1014).contains(code) || (3000...4999).contains(code)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? NIOWebSocketError {
        case .invalidFrameLength?: close(.messageTooLarge, context)
        case .fragmentedControlFrame?, .multiByteControlFrameLength?: close(.protocolError, context)
        default: if !isClosing { context.close(promise: nil) }
        }
    }

    // MARK: Sending

    private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        let size = data.readableBytes
        unsent += size
        // A client that asks and never reads. One that goes on at once learns that this and what follows is missing.
        guard unsent <= OutputLimit.bytes else { return close(.policyViolation, context) }
        let frame = WebSocketFrame(fin: true, opcode: opcode, data: data)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in bound.value.unsent -= size }
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: written)
    }

    private func sendPing(_ context: ChannelHandlerContext) {
        guard wasHeard else {
            context.close(promise: nil)
            return
        }
        wasHeard = false
        send(.ping, ByteBuffer(), context)
    }

    /// Sends a close frame, and closes when the client has it.
    private func close(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) {
        guard !isClosing else { return }
        isClosing = true
        fragments = nil
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        context.writeAndFlush(Self.wrapOutboundOut(frame), promise: nil)
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.closeGrace) { bound.value.close(promise: nil) }
    }
}
