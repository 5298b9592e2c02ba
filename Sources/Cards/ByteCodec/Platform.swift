// SPDX-License-Identifier: Apache-2.0

// The one file of Sources/Cards that knows which system it runs on.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Calls of the C library that have the same meaning on every system.
package enum Platform {
    /// The time of the system's clock: seconds and nanoseconds since 1970.
    package static var clock: (seconds: Int, nanoseconds: Int) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int(time.tv_sec), Int(time.tv_nsec))
    }

    /// The parts of a moment.
    package struct SplitTime {
        package var (year, month, day): (Int, Int, Int)
        package var (hour, minute, second): (Int, Int, Int)
        /// Seconds east of UTC.
        package var offset: Int

        package init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, offset: Int) {
            (self.year, self.month, self.day) = (year, month, day)
            (self.hour, self.minute, self.second, self.offset) = (hour, minute, second, offset)
        }
    }

    /// Splits seconds since 1970 into their parts.
    ///
    /// - Parameter isLocal: in the machine's time zone, not in UTC.
    /// - Returns: `nil` if the C library cannot represent the year.
    package static func parts(of seconds: Int, isLocal: Bool) -> SplitTime? {
        guard var time = time_t(exactly: seconds) else { return nil }
        var parts = unsafe tm()
        let isKnown = unsafe (isLocal ? localtime_r(&time, &parts) : gmtime_r(&time, &parts)) != nil
        guard isKnown else { return nil }
        return unsafe SplitTime(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec), offset: Int(parts.tm_gmtoff)
        )
    }

    /// Returns the seconds since 1970 of a moment in UTC; `nil` for a day that does not exist, such as February 30.
    package static func seconds(of time: SplitTime) -> Int? {
        var parts = unsafe tm()
        unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            Int32(clamping: time.year - 1900), Int32(clamping: time.month - 1), Int32(clamping: time.day)
        )
        unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (
            Int32(clamping: time.hour), Int32(clamping: time.minute), Int32(clamping: time.second)
        )
        let seconds = unsafe timegm(&parts)
        // timegm turns February 30 into a day of March.
        return unsafe parts.tm_mday == Int32(clamping: time.day) ? Int(seconds) : nil
    }

    /// The C library's English message for a failed call.
    package static func message(_ error: Int32) -> String {
        unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
    }

    /// Maps pages for a secret; where the system allows it, they are neither swapped out nor part of a core dump.
    ///
    /// - Returns: `nil` if there are none.
    package static func secretPages(_ length: Int) -> UnsafeMutableRawPointer? {
        let pages = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | anonymous, -1, 0)
        // MAP_FAILED is -1.
        guard let pages = unsafe pages, unsafe pages != UnsafeMutableRawPointer(bitPattern: -1) else { return nil }
        // Both calls can fail, because of a limit or the system; the secret is needed nevertheless.
        unsafe mlock(pages, length)
        #if !canImport(Darwin)
            unsafe madvise(pages, length, MADV_DONTDUMP)
        #endif
        return unsafe pages
    }

    #if canImport(Darwin)
        private static let anonymous = MAP_ANON
    #else
        private static let anonymous = MAP_ANONYMOUS
    #endif

    /// Gives pages of ``secretPages(_:)`` back.
    package static func unmap(_ start: UnsafeMutableRawPointer, _ length: Int) { unsafe munmap(start, length) }

    /// Overwrites bytes with zeros, also where nothing reads them afterwards.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        #if canImport(Darwin)
            unsafe memset_s(start, bytes.count, 0, bytes.count)
        #else
            unsafe explicit_bzero(start, bytes.count)
        #endif
    }
}

/// Numbers of errors (`errno`) that Kazasu has words of its own for.
package enum ErrorNumber {
    package static let (noEntry, noAccess, notPermitted, exists) = (ENOENT, EACCES, EPERM, EEXIST)
    package static let (badDescriptor, isFolder, notFolder) = (EBADF, EISDIR, ENOTDIR)
    package static let (noSpace, overQuota, readOnly, nameTooLong) = (ENOSPC, EDQUOT, EROFS, ENAMETOOLONG)
    package static let (notExecutable, textBusy, manyLinks, tooBig) = (ENOEXEC, ETXTBSY, ELOOP, E2BIG)
    package static let (inputOutput, noMemory, manyFiles, manyFilesOfAll) = (EIO, ENOMEM, EMFILE, ENFILE)
    package static let (tryAgain, addressInUse, refused, reset) = (EAGAIN, EADDRINUSE, ECONNREFUSED, ECONNRESET)
    package static let (brokenPipe, timedOut, noHost, noNetwork) = (EPIPE, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH)
}
