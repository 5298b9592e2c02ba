// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// Listens at some addresses and serves a site, on one thread: a server of readers waits for cards, not for processors.
package final class HTTPServer: Sendable {
    /// Where it listens, with the ports that the system chose.
    package let addresses: [ListenAddress]
    private let connections: Connections
    private let sockets: [UnixListener]

    /// Begins to listen at every address.
    ///
    /// - Parameters:
    ///   - thread: where everything of it runs.
    ///   - site: answers requests.
    package static func start(
        _ addresses: [ListenAddress], on thread: HTTPThread, _ limits: HTTPLimits = HTTPLimits(), site: any HTTPSite
    ) async throws(ListenError) -> HTTPServer {
        let connections = Connections()
        let room = BodyRoom(max(limits.bodies, limits.body))
        var sockets: [UnixListener] = []
        var bound: [ListenAddress] = []
        do throws(ListenError) {
            for address in addresses {
                let bootstrap = bootstrap(thread.group, address, limits, connections, room, site)
                let channel: any Channel
                do {
                    switch address {
                    case .internet(let host, let port):
                        channel = try await bootstrap.bind(host: host, port: Int(port)).get()
                    case .unix(let path):
                        let socket = try UnixListener(path)
                        sockets.append(socket)
                        channel = try await bootstrap.withBoundSocket(socket.descriptor).get()
                    case .inherited(let descriptor, _):
                        channel = try await bootstrap.withBoundSocket(descriptor).get()
                    }
                } catch let error as ListenError {
                    throw error
                } catch let error as IOError {
                    throw ListenError(address, error.errnoCode)
                } catch {
                    throw ListenError(address, 0)
                }
                connections.listens(channel)
                guard case .internet(let host, _) = address, let port = channel.localAddress?.port else {
                    bound.append(address)
                    continue
                }
                bound.append(.internet(host: host, port: UInt16(clamping: port)))
            }
        } catch {
            await connections.closeAll()
            for socket in sockets { socket.remove() }
            throw error
        }
        return HTTPServer(bound, connections, sockets)
    }

    private init(_ addresses: [ListenAddress], _ connections: Connections, _ sockets: [UnixListener]) {
        (self.addresses, self.connections, self.sockets) = (addresses, connections, sockets)
    }

    /// Stops listening and closes every connection.
    package func stop() async {
        await connections.closeAll()
        for socket in sockets { socket.remove() }
    }

    private static func bootstrap(
        _ group: MultiThreadedEventLoopGroup, _ address: ListenAddress, _ limits: HTTPLimits,
        _ connections: Connections, _ room: BodyRoom, _ site: any HTTPSite
    ) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if case .internet = address {
                        try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
                    }
                    try configure(channel, limits, connections, room, site)
                }
            }
    }

    private static func configure(
        _ channel: any Channel, _ limits: HTTPLimits, _ connections: Connections, _ room: BodyRoom,
        _ site: any HTTPSite
    ) throws {
        let count = connections.accepted(channel)
        // Those that are told that there are too many are few at a time.
        guard count <= limits.connections + 64 else {
            channel.close(promise: nil)
            return
        }
        let local = channel.localAddress
        let isUnix = if case .unixDomainSocket? = local { true } else { false }
        let peer = HTTPPeer(isUnixSocket: isUnix, localAddress: isUnix ? nil : local?.ipAddress)
        let connection = HTTPConnection(
            site, limits, room, from: peer, fault: count > limits.connections ? .tooManyConnections : nil)
        var parsing = NIOHTTPDecoderLimitConfiguration()
        parsing.maxHeaderFieldSize = limits.headers
        parsing.maxHeaderListSize = limits.headers
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: parsing)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(HTTPArrivalMonitor { [weak connection] in connection?.bytesArrived() })
        try pipeline.addHandler(HTTPResponseEncoder())
        try pipeline.addHandler(ByteToMessageHandler(decoder))
        try pipeline.addHandler(connection)
    }
}

/// The thread of a server.
package struct HTTPThread: Sendable {
    let group: MultiThreadedEventLoopGroup

    package init() { group = MultiThreadedEventLoopGroup(numberOfThreads: 1) }

    /// Where everything of the server runs.
    var eventLoop: any EventLoop { group.next() }

    /// Ends the thread. Nothing of it may be used afterwards.
    package func stop() async { try? await group.shutdownGracefully() }
}

/// The open connections of a server.
private final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var listeners: [any Channel] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    func listens(_ channel: any Channel) {
        state.withLock { $0.listeners.append(channel) }
    }

    /// Adds a connection until it is closed.
    ///
    /// - Returns: how many there are.
    func accepted(_ channel: any Channel) -> Int {
        let key = ObjectIdentifier(channel)
        let (count, isClosed) = state.withLock { state in
            state.open[key] = channel
            return (state.open.count, state.isClosed)
        }
        channel.closeFuture.whenComplete { [weak self] _ in self?.state.withLock { $0.open[key] = nil } }
        if isClosed { channel.close(promise: nil) }
        return count
    }

    func closeAll() async {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.listeners + state.open.values
        }
        for channel in channels { try? await channel.close() }
    }
}
