/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CLIBCRYPTO_H
#define KAZASU_CLIBCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/*
 * What Kazasu needs of OpenSSL's libcrypto, as a few functions on bytes.
 *
 * libcrypto.so.3 is opened by the first call, so that a command without cryptography neither loads nor needs it. The functions of
 * OpenSSL 3 are declared by hand in crypto.c from its manual; all types stay opaque.
 *
 * Every function returns 1 for yes or done, 0 for no, and KAZASU_CRYPTO_MISSING where libcrypto could not be opened. Those that
 * check a signature or read a key return KAZASU_CRYPTO_UNSUPPORTED where this libcrypto knows no such algorithm, curve or key:
 * that is neither yes nor no.
 */

#define KAZASU_CRYPTO_MISSING (-1)
#define KAZASU_CRYPTO_UNSUPPORTED (-2)

/* The longest digest in bytes. */
#define KAZASU_DIGEST_MAX 64

/* Whether libcrypto could be opened. */
int kazasu_crypto_is_there(void);

/* A digest by OpenSSL's name ("SHA256"). `digest` has room for KAZASU_DIGEST_MAX bytes. */
int kazasu_crypto_digest(const char *name, const uint8_t *data, size_t length, uint8_t *digest, size_t *digest_length);

/* AES in CBC mode without padding; keys of 16, 24 or 32 bytes, `length` a multiple of 16, `output` as long as `data`. */
int kazasu_crypto_aes_cbc(int encrypt, const uint8_t *key, size_t key_length, const uint8_t *start, const uint8_t *data,
                          size_t length, uint8_t *output);

/* How a signature is padded. */
enum kazasu_crypto_scheme {
    /* RSA with PKCS #1 v1.5, or ECDSA with a DER signature, as the key says. */
    KAZASU_CRYPTO_PLAIN = 0,
    /* RSA-PSS, MGF1 with the digest of the message unless `mask` names another, salt of any length. */
    KAZASU_CRYPTO_PSS = 1,
};

/*
 * Checks a signature over a digest. `key` is a SubjectPublicKeyInfo. `name` is the digest's, or NULL for ECDSA over a value of any
 * length, of which the leftmost bits count.
 */
int kazasu_crypto_verify(const uint8_t *key, size_t key_length, enum kazasu_crypto_scheme scheme, const char *name,
                         const char *mask, const uint8_t *digest, size_t digest_length, const uint8_t *signature,
                         size_t signature_length);

/* RSA's public operation without any padding. `output` has room for `*output_length` bytes. */
int kazasu_crypto_rsa_public(const uint8_t *key, size_t key_length, const uint8_t *signature, size_t signature_length,
                             uint8_t *output, size_t *output_length);

/*
 * A curve over a prime field whose points are all in the subgroup (cofactor 1): OpenSSL's number of it, or 0 and its parameters
 * p, a, b, generator (04, x, y) and order one behind the other, of which p, a, b, x and y have `width` bytes.
 */
struct kazasu_curve {
    int number;
    const uint8_t *parameters;
    size_t width;
    size_t length;
};

/* The parameters of a curve that has a number. `parameters` has room for `*length` bytes. */
int kazasu_curve_parameters(int number, uint8_t *parameters, size_t *width, size_t *length);

/*
 * first · generator + second · point, as 04, x, y; `first_length` 0 leaves out the one, `point_length` 0 the other. No where the point
 * is not on the curve or is not uncompressed, or where the sum is at infinity. `result` has room for 1 + 2 * width bytes.
 */
int kazasu_curve_sum(const struct kazasu_curve *curve, const uint8_t *first, size_t first_length, const uint8_t *point,
                     size_t point_length, const uint8_t *second, size_t second_length, uint8_t *result, size_t *length);

/* An operation modulo an odd number. */
enum kazasu_modular {
    KAZASU_MODULAR_ADD = 0,
    KAZASU_MODULAR_SUBTRACT = 1,
    KAZASU_MODULAR_MULTIPLY = 2,
    /* In constant time. */
    KAZASU_MODULAR_POWER = 3,
};

/* Computes with big-endian numbers; `result` gets `modulus_length` bytes. */
int kazasu_modular(enum kazasu_modular operation, const uint8_t *first, size_t first_length, const uint8_t *second,
                   size_t second_length, const uint8_t *modulus, size_t modulus_length, uint8_t *result);

/* An X.509 certificate. */
struct kazasu_certificate;

/* Its fields. */
enum kazasu_certificate_field {
    /* SubjectPublicKeyInfo, DER. */
    KAZASU_CERTIFICATE_KEY = 0,
    /* The serial number, big-endian, without a sign. */
    KAZASU_CERTIFICATE_SERIAL = 1,
    /* Distinguished names as RFC 2253 writes them, UTF-8, cut at 1,023 bytes. */
    KAZASU_CERTIFICATE_SUBJECT = 2,
    KAZASU_CERTIFICATE_ISSUER = 3,
    /* The subject's common name, UTF-8; empty where there is none. */
    KAZASU_CERTIFICATE_COMMON_NAME = 4,
    /* YYYYMMDDHHMMSS, UTC. */
    KAZASU_CERTIFICATE_NOT_BEFORE = 5,
    KAZASU_CERTIFICATE_NOT_AFTER = 6,
};

/* Reads a certificate; what follows it is ignored. The caller frees it. */
int kazasu_certificate_read(const uint8_t *der, size_t length, struct kazasu_certificate **certificate);
void kazasu_certificate_free(struct kazasu_certificate *certificate);

/* A field, valid as long as the certificate. */
const uint8_t *kazasu_certificate_bytes(const struct kazasu_certificate *certificate,
                                        enum kazasu_certificate_field field, size_t *length);

/* The length of its DER in bytes. */
size_t kazasu_certificate_length(const struct kazasu_certificate *certificate);

/* Checks the signature of a certificate with a public key. */
int kazasu_certificate_verify(const uint8_t *der, size_t length, const uint8_t *key, size_t key_length);

#endif
