// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A stand-in for the character device of a GPIO chip, where the kernel has neither a chip nor gpio-sim: a file whose lines are
/// files beside it. A line belongs to whoever holds its descriptor, and keeps its state when it is given up, which is the worst
/// that a real chip does.
///
/// The programs see it through a library that takes the kernel's two requests before the kernel does.
struct MadeUpGPIOChip {
    /// The chip, as the programs name it.
    let path: String
    /// What makes a program see it.
    let environment: [String: String]
    private let folder: TemporaryFolder

    /// Why there can be none here, or `nil` if there can.
    static let obstacle: String? =
        CCompiler.path == nil || access("/usr/include/linux/gpio.h", R_OK) != 0
        ? "needs a C compiler and linux/gpio.h"
        : Service.isSanitized ? "a sanitizer must be the first library" : nil

    init(_ folder: TemporaryFolder) throws {
        self.folder = folder
        path = try folder.write([], as: "gpiochip0")
        let source = try folder.write(Array(Self.source.utf8), as: "chip.c")
        let library = "\(folder.path)/chip.so"
        let result = try ChildProcess.run(
            try #require(CCompiler.path), ["-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, source])
        try #require(result.end == .exited(0), "\(result.errors)")
        environment = ["LD_PRELOAD": library]
    }

    /// The states of lines: `0`, `1`, or nothing before anybody has requested one.
    func lines(_ offsets: Int...) throws -> [String] {
        try offsets.map { offset in
            let name = "gpiochip0.\(offset)"
            return access("\(folder.path)/\(name)", R_OK) == 0 ? try folder.text(name) : ""
        }
    }

    private static let source = """
        #include <errno.h>
        #include <fcntl.h>
        #include <linux/gpio.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/file.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        int ioctl(int file, unsigned long request, ...) {
            va_list list;
            va_start(list, request);
            void *argument = va_arg(list, void *);
            va_end(list);
            char link[64], path[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            long length = readlink(link, path, sizeof path - 16);
            path[length < 0 ? 0 : length] = 0;
            if (request == GPIO_V2_GET_LINE_IOCTL && strstr(path, "gpiochip")) {
                struct gpio_v2_line_request *wanted = argument;
                snprintf(path + length, 16, ".%u", wanted->offsets[0]);
                int line = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
                if (line < 0) return -1;
                if (flock(line, LOCK_EX | LOCK_NB) < 0 || pwrite(line, "0", 1, 0) != 1) {
                    close(line);
                    errno = EBUSY;
                    return -1;
                }
                wanted->fd = line;
                return 0;
            }
            if (request == GPIO_V2_LINE_SET_VALUES_IOCTL && strstr(path, "gpiochip")) {
                struct gpio_v2_line_values *values = argument;
                return pwrite(file, values->bits & 1 ? "1" : "0", 1, 0) == 1 ? 0 : -1;
            }
            return syscall(SYS_ioctl, file, request, argument);
        }
        """
}
