// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import ReaderCore
internal import Synchronization
package import SystemDevices

/// Keeps the computer's lights from staying on: they go off when it takes them, when it gives them up, and when this process ends
/// in any way, `kill -9` included. A relay at such a light is a door that must not stay open.
///
/// A process of its own does the last: it holds one end of a pipe and nothing else.
package final class LightGuard: Sendable {
    private struct State {
        var leds: [LEDLights] = []
        var lines: [GPIOLights] = []
        var watchman: Watchman?
    }

    /// The process, and the pipe that it waits at.
    fileprivate struct Watchman {
        let process: pid_t
        let pipe: Int32
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes lights in place of those of before. All that are new or given up go off; lines of GPIO chips are requested and put
    /// off by ``GPIOLines``, and are only guarded here.
    ///
    /// - Returns: `errno`, if they cannot be guarded.
    package func change(to leds: [LEDLights], _ lines: [GPIOLights]) -> Int32? {
        state.withLock { state -> Int32? in
            guard state.leds != leds || state.lines != lines else { return nil }
            for light in Set(state.leds).symmetricDifference(leds) { try? light.show(.off) }
            state.watchman?.end()
            (state.leds, state.lines, state.watchman) = (leds, lines, nil)
            let lights =
                leds.flatMap(\.files).map { (path: $0, offset: -1) }
                + lines.flatMap(\.lines).map { (path: $0.chip, offset: Int($0.offset)) }
            guard !lights.isEmpty else { return nil }
            state.watchman = Watchman(lights)
            return state.watchman == nil ? errno : nil
        }
    }

    /// Puts all lights off that are not lines of GPIO chips, and gives them up.
    package func end() { _ = change(to: [], []) }
}

extension LightGuard.Watchman {
    /// - Returns: `nil`, with `errno` set, if it cannot be started.
    fileprivate init?(_ lights: [(path: String, offset: Int)]) {
        var ends: [Int32] = [-1, -1]
        guard unsafe kazasu_pipe(&ends, O_CLOEXEC) == 0 else { return nil }
        let paths = unsafe lights.map { unsafe strdup($0.path) }
        defer { unsafe paths.forEach { unsafe free($0) } }
        let known = unsafe paths.map { unsafe UnsafePointer($0) }
        let offsets = lights.map { Int64($0.offset) }
        let started = unsafe kazasu_guard_lights(ends[0], known, offsets, UInt(lights.count))
        let number = errno
        close(ends[0])
        guard started > 0 else {
            close(ends[1])
            errno = number
            return nil
        }
        (process, pipe) = (started, ends[1])
    }

    /// Ends the process, which leaves the lights as they are.
    fileprivate func end() {
        let byte: [UInt8] = [0]
        // If it was killed, SIGPIPE is ignored by every service.
        _ = unsafe write(pipe, byte, 1)
        close(pipe)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
