// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc
import ReaderCore
import Synchronization
import TestSupport
import Testing

@testable import SharedReaders

/// Two chips of a made-up kernel: a line belongs to whoever holds its descriptor.
final class GPIOChips: GPIOSystem {
    private struct State {
        var isPlugged = true
        var held: [Int32: GPIOLine] = [:]
        /// Descriptors of a chip that was pulled out: until they are closed, the kernel keeps its number, and it is another chip
        /// when it comes back.
        var dead: Set<Int32> = []
        var next: Int32 = 100
        var shown: [String] = []
        var busy: Set<GPIOLine> = []
        var requests = 0
    }

    private let state = Mutex(State())
    private let gate = Mutex(())
    /// What calls wait for.
    private let hanging = Mutex<DispatchSemaphore?>(nil)

    /// The green light at line 17, the red one at 22.
    static let lights = GPIOLights(
        green: GPIOLine(chip: "/dev/gpiochip0", offset: 17), red: GPIOLine(chip: "/dev/gpiochip0", offset: 22))

    static func withLines() throws -> (GPIOChips, GPIOLines) {
        let chips = GPIOChips()
        let lines = GPIOLines(chips)
        try lines.request([lights])
        return (chips, lines)
    }

    /// What was set, in order: `17+` is on.
    var shown: [String] { state.withLock(\.shown) }
    /// The lines that somebody holds.
    var held: [UInt32] { state.withLock { $0.held.values.map(\.offset).sorted() } }
    var requests: Int { state.withLock(\.requests) }

    /// Pulls the chip out, or plugs it in: descriptors of before stay dead.
    func plug(_ isPlugged: Bool) {
        state.withLock { state in
            state.isPlugged = isPlugged
            state.dead.formUnion(state.held.keys)
            state.held = [:]
        }
    }

    /// Another program has this line.
    func occupy(_ offset: UInt32) {
        state.withLock { _ = $0.busy.insert(GPIOLine(chip: "/dev/gpiochip0", offset: offset)) }
    }

    /// Makes calls wait until ``goOn()``.
    func hang() { hanging.withLock { $0 = DispatchSemaphore(value: 0) } }

    func goOn() {
        hanging.withLock { hanging in
            hanging?.signal()
            hanging = nil
        }
    }

    func request(_ line: GPIOLine) throws(GPIOLines.Failure) -> Int32 {
        let result: Result<Int32, GPIOLines.Failure> = state.withLock { state in
            state.requests += 1
            let problem: Int32? =
                if !state.isPlugged || !state.dead.isEmpty || !["/dev/gpiochip0", "/dev/gpiochip1"].contains(line.chip)
                {
                    ENOENT
                } else if line.offset >= 54 {
                    EINVAL
                } else if state.busy.contains(line) || state.held.values.contains(line) {
                    EBUSY
                } else {
                    nil
                }
            if let problem { return .failure(GPIOLines.Failure(line: line, number: problem)) }
            state.next += 1
            state.held[state.next] = line
            return .success(state.next)
        }
        return try result.get()
    }

    func set(_ descriptor: Int32, _ isOn: Bool) -> Int32 {
        hanging.withLock { $0 }?.wait()
        return state.withLock { state in
            guard let line = state.held[descriptor] else { return ENODEV }
            state.shown.append("\(line.offset)\(isOn ? "+" : "-")")
            return 0
        }
    }

    func release(_ descriptor: Int32) {
        state.withLock { state in
            state.held[descriptor] = nil
            state.dead.remove(descriptor)
        }
    }
}

@Suite("Lights at GPIO chips")
struct GPIOLightsTests {
    @Test(
        arguments: [
            (.yes, ["22-", "17+"]), (.no, ["17-", "22+"]), (.fault, ["22+", "17+"]), (.off, ["17-", "22-"]),
        ] as [(ReaderSignal, [String])])
    func setsLines(_ signal: ReaderSignal, _ expected: [String]) throws {
        let (chips, lines) = try GPIOChips.withLines()
        try lines.show(signal, GPIOChips.lights)
        #expect(chips.shown == expected)
    }

    /// One line showed that the chip is gone; the other one must not keep its number.
    @Test func aChipThatComesBackIsUsed() throws {
        let (chips, lines) = try GPIOChips.withLines()
        chips.plug(false)
        #expect(throws: GPIOLines.Failure.self) { try lines.show(.yes, GPIOChips.lights) }
        chips.plug(true)
        try lines.show(.yes, GPIOChips.lights)
        #expect(chips.held == [17, 22])
        #expect(chips.shown == ["22-", "17+"])
    }

    @Test func linesAreRequestedOnce() throws {
        let (chips, lines) = try GPIOChips.withLines()
        for signal in ReaderSignal.allCases { try lines.show(signal, GPIOChips.lights) }
        try lines.request([GPIOChips.lights])
        #expect(chips.requests == 2)
    }

    /// The kernel would refuse to give a line twice: a change of settings keeps those that it has, also as other lights.
    @Test func settingsThatChange() throws {
        let (chips, lines) = try GPIOChips.withLines()
        let swapped = try #require(GPIOLights(chip: "/dev/gpiochip0", green: 22, red: 5))
        try lines.request([swapped])
        #expect(chips.held == [5, 17, 22])
        try lines.show(.yes, GPIOChips.lights)
        lines.keep([swapped])
        #expect(chips.held == [5, 22])
        #expect(chips.shown == ["22-", "17+", "17-"])
        // An answer of before touches nothing that was given up.
        try lines.show(.fault, GPIOChips.lights)
        #expect(chips.shown.suffix(1) == ["22+"])
        #expect(chips.held == [5, 22])
    }

    @Test func everythingIsOffAtTheEnd() throws {
        let (chips, lines) = try GPIOChips.withLines()
        try lines.show(.fault, GPIOChips.lights)
        lines.close()
        #expect(Set(chips.shown.suffix(2)) == ["17-", "22-"])
        #expect(chips.held == [])
        try lines.show(.yes, GPIOChips.lights)
        #expect(chips.shown.count == 4)
    }

    /// Lines that could be had are given back.
    @Test func aLineThatIsBusy() throws {
        let chips = GPIOChips()
        chips.occupy(22)
        let lines = GPIOLines(chips)
        let other = try #require(GPIOLights(chip: "gpiochip0", green: 5, red: 6))
        #expect(throws: GPIOLines.Failure(line: GPIOChips.lights.red, number: EBUSY)) {
            try lines.request([other, GPIOChips.lights])
        }
        #expect(chips.held == [])
        try lines.request([other])
        #expect(throws: GPIOLines.Failure.self) { try lines.request([GPIOChips.lights]) }
        #expect(chips.held == [5, 6])
    }

    @Test(arguments: [("gpiochip9", 17, ENOENT), ("gpiochip0", 54, EINVAL)] as [(String, UInt32, Int32)])
    func aLineThatIsNotThere(_ chip: String, _ offset: UInt32, _ number: Int32) throws {
        let lights = try #require(GPIOLights(chip: chip, green: offset, red: 0))
        let lines = GPIOLines(GPIOChips())
        let error = #expect(throws: GPIOLines.Failure.self) { try lines.request([lights]) }
        #expect(error == GPIOLines.Failure(line: lights.green, number: number))
    }

    @Test func namesOfChips() throws {
        #expect(GPIOLights(chip: "gpiochip4", green: 1, red: 2)?.green.chip == "/dev/gpiochip4")
        #expect(GPIOLights(chip: "/dev/relays", green: 1, red: 2)?.red == GPIOLine(chip: "/dev/relays", offset: 2))
        for name in ["", ".", "..", "../x", "a/b", "a\u{0}b", "/dev/a\u{0}b"] {
            #expect(GPIOLights(chip: name, green: 1, red: 2) == nil)
        }
        #expect(GPIOLights(chip: "gpiochip0", green: 3, red: 3) == nil)
    }

    // MARK: The kernel's interface

    /// Real files that are not chips; a real chip needs hardware, or gpio-sim.
    @Test(
        arguments: [("/dev/null", ENOTTY), ("/nowhere/gpiochip0", ENOENT), ("/dev", EISDIR)] as [(String, Int32)])
    func refusesFilesThatAreNotChips(_ path: String, _ number: Int32) throws {
        let line = GPIOLine(chip: path, offset: 0)
        #expect(throws: GPIOLines.Failure(line: line, number: number)) { try LinuxGPIO().request(line) }
    }

    @Test func refusesADescriptorThatIsNotALine() {
        #expect(LinuxGPIO().set(-1, true) == EBADF)
    }

    private static let header = "/usr/include/linux/gpio.h"

    /// Sizes, places of members and numbers of calls, by a compiler and the kernel's own header.
    @Test(.enabled(if: CCompiler.path != nil && access(header, R_OK) == 0, "needs a C compiler and linux/gpio.h"))
    func layoutIsTheKernels() throws {
        let folder = try TemporaryFolder()
        let members = [
            ("offsets", "offsets"), ("consumer", "consumer"), ("config", "config"), ("config.flags", "config.flags"),
            ("config.attribute_count", "config.num_attrs"), ("config.attributes", "config.attrs"),
            ("line_count", "num_lines"), ("event_buffer_size", "event_buffer_size"), ("descriptor", "fd"),
        ]
        var checks = members.map { ours, kernels in
            "offsetof(struct kazasu_gpio_request, \(ours)) == offsetof(struct gpio_v2_line_request, \(kernels))"
        }
        checks += ["bits", "mask"].map {
            "offsetof(struct kazasu_gpio_values, \($0)) == offsetof(struct gpio_v2_line_values, \($0))"
        }
        checks += [
            "sizeof(struct kazasu_gpio_request) == sizeof(struct gpio_v2_line_request)",
            "sizeof(struct kazasu_gpio_values) == sizeof(struct gpio_v2_line_values)",
            "KAZASU_GPIO_GET_LINE == GPIO_V2_GET_LINE_IOCTL",
            "KAZASU_GPIO_SET_VALUES == GPIO_V2_LINE_SET_VALUES_IOCTL",
            "KAZASU_GPIO_OUTPUT == GPIO_V2_LINE_FLAG_OUTPUT", "sizeof(\"kazasu\") <= GPIO_MAX_NAME_SIZE",
        ]
        func compiles(_ checks: [String]) throws -> ChildResult {
            let text =
                "#include <stddef.h>\n#include <linux/gpio.h>\n"
                + "#include \"\(TestFiles.root)/Sources/C/CLinux/shim.h\"\n"
                + checks.map { "_Static_assert(\($0), \"\");\n" }.joined()
            let file = try folder.write(Array(text.utf8), as: "check.c")
            return try ChildProcess.run(try #require(CCompiler.path), ["-fsyntax-only", "-D_GNU_SOURCE", file])
        }
        let result = try compiles(checks)
        #expect(result.end == .exited(0), "\(result.errors)")
        // It would notice.
        #expect(try compiles(["sizeof(struct kazasu_gpio_request) == 591"]).end != .exited(0))
    }

    @Test func numbersOfFacts() {
        #expect(MemoryLayout<kazasu_gpio_request>.size == 592)
        #expect(MemoryLayout<kazasu_gpio_values>.size == 16)
    }
}
