// SPDX-License-Identifier: Apache-2.0

import CardDecoders
import Glibc

/// The folder that certificates are written to; it is made where there is none.
struct CertificateFolder {
    private let path: String

    init(_ path: String) throws(Failure) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw Failure.unwritable(path, errno) }
        guard access(path, W_OK | X_OK) == 0 else { throw Failure.unwritable(path, errno) }
        self.path = path
    }

    /// Writes a certificate as DER and as PEM.
    ///
    /// - Returns: the paths of both.
    func write(_ der: [UInt8], _ file: MyNumberFile) throws(Failure) -> (der: String, pem: String) {
        let paths = (der: "\(path)/\(file.rawValue).der", pem: "\(path)/\(file.rawValue).pem")
        try OutputFile(paths.der).finish(der)
        try OutputFile(paths.pem).finish(PEM.certificate(der))
        return paths
    }
}
