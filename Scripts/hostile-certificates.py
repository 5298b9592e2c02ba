#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pairs of an authority and a signer in Fixtures/ids/certificates: some fit, most must be refused.

Needs python3-cryptography 45 or newer. Keys, dates and signatures are fixed, so that each run makes the same files; cases.tsv says
how each pair is to be judged on 2026-11-26 for a document of Utopia (UT).
"""
import datetime
import os
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(TOP, "Fixtures/ids/certificates")
# Test keys, worth nothing.
ROOT, OTHER, SIGNER = (ec.derive_private_key(number, ec.SECP256R1()) for number in (0x4B61, 0x7A61, 0x7375))
EDWARDS = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
USAGES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
          "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")


def day(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d")


def name(common, country="UT", organization="Kazasu samples"):
    parts = [(NameOID.COUNTRY_NAME, country), (NameOID.ORGANIZATION_NAME, organization), (NameOID.COMMON_NAME, common)]
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in parts if text])


def usage(*wanted):
    return x509.KeyUsage(**{word: word in wanted for word in USAGES})


def unknown(oid="1.2.3.4", value=b"\x05\x00"):
    return x509.UnrecognizedExtension(ObjectIdentifier(oid), value)


def sign(builder, key):
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return builder.sign(key, None)
    return builder.sign(key, hashes.SHA256(), ecdsa_deterministic=True)


def make(subject, key, issuer, issuer_key, serial, extensions, time, identifiers=True):
    builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
               .serial_number(serial).not_valid_before(day(time[0])).not_valid_after(day(time[1])))
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    if identifiers:
        builder = (builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
                   .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False))
    return sign(builder, issuer_key).public_bytes(serialization.Encoding.DER)


CA = (x509.BasicConstraints(True, 0), True)
CA_USAGE = (usage("key_cert_sign", "crl_sign"), True)
SIGNS = (usage("digital_signature"), True)


def authority(extensions=(CA, CA_USAGE), subject=name("Sample CSCA"), key=ROOT, time=("2020-01-01", "2040-01-01"), **more):
    return make(subject, key, subject, key, 1, extensions, time, **more)


def signer(extensions=(SIGNS,), subject=name("Sample signer"), issuer=name("Sample CSCA"), by=ROOT, key=SIGNER,
           time=("2024-01-01", "2034-01-01"), **more):
    return make(subject, key, issuer, by, 1000, extensions, time, **more)


def tlv(tag, value):
    count = len(value)
    size = bytes([count]) if count < 0x80 else bytes([0x81, count]) if count < 0x100 else b"\x82" + count.to_bytes(2, "big")
    return bytes([tag]) + size + value


def changed(der, old, new, key):
    """The certificate with other bytes of the same number in what is signed, signed again."""
    found = x509.load_der_x509_certificate(der)
    body = found.tbs_certificate_bytes
    assert len(old) == len(new) and body.count(old) >= 1
    body = body.replace(old, new)
    algorithm = bytes.fromhex("300A06082A8648CE3D040302").replace(old, new)
    signature = key.sign(body, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    return tlv(0x30, body + algorithm + tlv(0x03, b"\0" + signature))


def directory(*names):
    return [x509.DirectoryName(found) for found in names]


def purposes(*oids):
    return x509.ExtendedKeyUsage([ObjectIdentifier(oid) for oid in oids]), True


def constraints(permitted=None, excluded=None):
    return x509.NameConstraints(permitted, excluded), True


def part(country):
    return x509.Name([x509.NameAttribute(NameOID.COUNTRY_NAME, country)])


def cases():
    """Name, role, state, why, authority, signer."""
    unfit = "certificateUnfit", "certificate"
    country = "certificateUnfit", "country"
    doc = "documentSigner"
    policy = x509.CertificatePolicies([x509.PolicyInformation(ObjectIdentifier("1.2.3.4.5"), None)]), True
    mixed = x509.Name([
        x509.NameAttribute(NameOID.COUNTRY_NAME, "ut"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "KAZASU  samples "),
        x509.NameAttribute(NameOID.COMMON_NAME, "sample csca")])
    printable = x509.Name([
        x509.NameAttribute(NameOID.COUNTRY_NAME, "UT"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kazasu samples", x509.name._ASN1Type.PrintableString),
        x509.NameAttribute(NameOID.COMMON_NAME, "Sample CSCA", x509.name._ASN1Type.BMPString)])
    dns = [x509.DNSName("example.com")]
    self_signed = make(name("Sample signer"), SIGNER, name("Sample signer"), SIGNER, 1000, (SIGNS,), ("2024-01-01", "2034-01-01"))
    twice = changed(
        signer((SIGNS, (x509.BasicConstraints(False, None), True), (unknown("2.5.29.99", bytes.fromhex("30030101FF")), True))),
        bytes.fromhex("0603551D63"), bytes.fromhex("0603551D13"), ROOT)
    odd = changed(authority(), bytes.fromhex("30060101FF020100"), bytes.fromhex("30060101FF020190"), ROOT)
    no_usage = changed(signer(), bytes.fromhex("03020780"), bytes.fromhex("03020700"), ROOT)
    other_algorithm = changed(signer(), bytes.fromhex("06082A8648CE3D040302"), bytes.fromhex("06082A8648CE3D04037F"), ROOT)
    broken = bytearray(signer())
    broken[-1] ^= 1
    second = dict(subject=name("Second CA"), key=OTHER)
    return [
        # What must be accepted.
        ("plain", doc, "valid", "", authority(), signer()),
        ("no-key-usage", doc, "valid", "", authority((CA,)), signer(())),
        ("no-identifiers", doc, "valid", "", authority(identifiers=False), signer(identifiers=False)),
        ("any-purpose", doc, "valid", "", authority(), signer((SIGNS, purposes("2.5.29.37.0")))),
        ("other-case", doc, "valid", "", authority(), signer(issuer=mixed)),
        ("other-strings", doc, "valid", "", authority(subject=printable), signer()),
        ("authority-expired-since", doc, "valid", "", authority(time=("2020-01-01", "2025-01-01")), signer()),
        ("critical-policy", doc, "valid", "", authority(), signer((SIGNS, policy))),
        ("uncritical-unknown", doc, "valid", "", authority(), signer((SIGNS, (unknown(), False)))),
        ("permitted-name", doc, "valid", "", authority((CA, CA_USAGE, constraints(directory(part("UT"))))), signer()),
        ("edwards-authority", doc, "valid", "", authority(key=EDWARDS), signer(by=EDWARDS)),
        ("holder-signs", "holder", "valid", "", authority(), signer(((usage("content_commitment"), True),))),
        ("holder-purpose", "holder", "valid", "", authority(), signer((SIGNS, purposes("1.3.6.1.5.5.7.3.2")))),
        ("root", "authority", "valid", "", authority(), authority()),
        # What a signer may not be.
        ("signer-enciphers", doc, *unfit, authority(), signer(((usage("key_encipherment"), True),))),
        ("signer-signs-certificates", doc, *unfit, authority(), signer((CA_USAGE,))),
        ("signer-not-repudiates", doc, *unfit, authority(), signer(((usage("content_commitment"), True),))),
        ("signer-has-no-usage", doc, *unfit, authority(), no_usage),
        ("signer-is-server", doc, *unfit, authority(), signer((SIGNS, purposes("1.3.6.1.5.5.7.3.1")))),
        ("signer-of-lists", doc, *unfit, authority(), signer((SIGNS, purposes("2.23.136.1.1.3")))),
        ("signer-unknown-critical", doc, *unfit, authority(), signer((SIGNS, (unknown(), True)))),
        ("signer-twice-constrained", doc, *unfit, authority(), twice),
        ("signer-is-authority", doc, *unfit, authority(), signer((CA, (usage("digital_signature", "key_cert_sign"), True)))),
        ("signer-is-own-authority", doc, *unfit, self_signed, self_signed),
        ("holder-enciphers", "holder", *unfit, authority(), signer(((usage("key_encipherment"), True),))),
        # What an authority may not be.
        ("authority-signs-data-only", doc, *unfit, authority((CA, SIGNS)), signer()),
        ("authority-is-none", doc, *unfit, authority(((x509.BasicConstraints(False, None), True), CA_USAGE)), signer()),
        ("authority-unconstrained", doc, *unfit, authority((CA_USAGE,)), signer()),
        ("authority-odd-constraints", doc, *unfit, odd, signer()),
        ("authority-unknown-critical", doc, *unfit, authority((CA, CA_USAGE, (unknown(), True))), signer()),
        ("authority-of-servers", doc, *unfit, authority((CA, CA_USAGE, constraints(dns))), signer()),
        ("authority-of-others", doc, *unfit, authority((CA, CA_USAGE, constraints(directory(part("XX"))))), signer()),
        ("authority-excludes", doc, *unfit, authority((CA, CA_USAGE, constraints(None, directory(part("ut"))))), signer()),
        ("authority-had-ended", doc, *unfit, authority(time=("2010-01-01", "2023-12-31")), signer()),
        ("authority-came-later", doc, *unfit, authority(time=("2025-01-01", "2040-01-01")), signer()),
        ("authority-too-long", "authority", *unfit, authority(), signer((CA, CA_USAGE), **second)),
        # Time, country, and who issued it.
        ("signer-expired", doc, "certificateExpired", "", authority(), signer(time=("2024-01-01", "2025-01-01"))),
        ("signer-not-yet", doc, "certificateExpired", "", authority(), signer(time=("2027-01-01", "2034-01-01"))),
        ("signer-of-other-country", doc, *country, authority(), signer(subject=name("Sample signer", "XX"))),
        ("signer-of-no-country", doc, *country, authority(), signer(subject=name("Sample signer", None))),
        ("authority-of-other-country", doc, *country, authority(subject=name("Sample CSCA", "XX")),
         signer(issuer=name("Sample CSCA", "XX"))),
        ("other-name", doc, "unknownAuthority", "", authority(), signer(issuer=name("Other CSCA"))),
        ("other-key", doc, "unknownAuthority", "", authority(key=OTHER), signer()),
        ("other-key-unnamed", doc, "unknownAuthority", "", authority(identifiers=False), signer(by=OTHER, identifiers=False)),
        ("changed-signature", doc, "wrong", "", authority(), bytes(broken)),
        ("unknown-algorithm", doc, "unsupported", "", authority(), other_algorithm),
    ]


def main():
    if "--help" in sys.argv:
        return print(__doc__.strip())
    os.makedirs(FOLDER, exist_ok=True)
    table = ["# The judgement of each pair; made by Scripts/hostile-certificates.py.", "name\trole\tstate\twhy"]
    for found, role, state, why, *pair in cases():
        table.append("\t".join((found, role, state, why)))
        with open(os.path.join(FOLDER, found + ".bin"), "wb") as file:
            file.write(b"".join(pair))
    with open(os.path.join(FOLDER, "cases.tsv"), "w", encoding="utf-8") as file:
        file.write("\n".join(table) + "\n")


main()
