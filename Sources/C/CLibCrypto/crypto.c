/* SPDX-License-Identifier: Apache-2.0 */

#include "CLibCrypto.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The ABI of OpenSSL 3. */
static const char file[] = "libcrypto.so.3";

/* Values of openssl/rsa.h, asn1.h, objects.h and x509v3.h. */
#define RSA_PKCS1_PADDING 1
#define RSA_NO_PADDING 3
#define RSA_PKCS1_PSS_PADDING 6
#define RSA_PSS_SALTLEN_AUTO (-2)
#define XN_FLAG_RFC2253 0x1110317
#define NID_commonName 13
#define EVP_PKEY_RSA 6
#define POINT_CONVERSION_UNCOMPRESSED 4

typedef struct evp_md_st EVP_MD;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct engine_st ENGINE;
typedef struct x509_st X509;
typedef struct X509_name_st X509_NAME;
typedef struct asn1_string_st ASN1_STRING;
typedef struct bio_st BIO;
typedef struct bio_method_st BIO_METHOD;
typedef struct bignum_st BIGNUM;
typedef struct bignum_ctx BN_CTX;
typedef struct bn_mont_ctx_st BN_MONT_CTX;
typedef struct ec_group_st EC_GROUP;
typedef struct ec_point_st EC_POINT;

/* Name, result, parameters. */
#define FUNCTIONS(F)                                                                                                   \
    F(const EVP_MD *, EVP_get_digestbyname, (const char *))                                                            \
    F(int, EVP_Digest, (const void *, size_t, unsigned char *, unsigned int *, const EVP_MD *, ENGINE *))              \
    F(const EVP_CIPHER *, EVP_aes_128_cbc, (void))                                                                     \
    F(const EVP_CIPHER *, EVP_aes_192_cbc, (void))                                                                     \
    F(const EVP_CIPHER *, EVP_aes_256_cbc, (void))                                                                     \
    F(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void))                                                                    \
    F(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX *))                                                                   \
    F(int, EVP_CIPHER_CTX_set_padding, (EVP_CIPHER_CTX *, int))                                                        \
    F(int, EVP_CipherInit_ex,                                                                                          \
      (EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const unsigned char *, const unsigned char *, int))             \
    F(int, EVP_CipherUpdate, (EVP_CIPHER_CTX *, unsigned char *, int *, const unsigned char *, int))                   \
    F(EVP_PKEY *, d2i_PUBKEY, (EVP_PKEY **, const unsigned char **, long))                                             \
    F(int, i2d_PUBKEY, (const EVP_PKEY *, unsigned char **))                                                           \
    F(void, EVP_PKEY_free, (EVP_PKEY *))                                                                               \
    F(int, EVP_PKEY_get_base_id, (const EVP_PKEY *))                                                                   \
    F(EVP_PKEY_CTX *, EVP_PKEY_CTX_new, (EVP_PKEY *, ENGINE *))                                                        \
    F(void, EVP_PKEY_CTX_free, (EVP_PKEY_CTX *))                                                                       \
    F(int, EVP_PKEY_CTX_set_rsa_padding, (EVP_PKEY_CTX *, int))                                                        \
    F(int, EVP_PKEY_CTX_set_rsa_pss_saltlen, (EVP_PKEY_CTX *, int))                                                    \
    F(int, EVP_PKEY_CTX_set_rsa_mgf1_md, (EVP_PKEY_CTX *, const EVP_MD *))                                             \
    F(int, EVP_PKEY_CTX_set_signature_md, (EVP_PKEY_CTX *, const EVP_MD *))                                            \
    F(int, EVP_PKEY_verify_init, (EVP_PKEY_CTX *))                                                                     \
    F(int, EVP_PKEY_verify,                                                                                            \
      (EVP_PKEY_CTX *, const unsigned char *, size_t, const unsigned char *, size_t))                                  \
    F(int, EVP_PKEY_verify_recover_init, (EVP_PKEY_CTX *))                                                             \
    F(int, EVP_PKEY_verify_recover, (EVP_PKEY_CTX *, unsigned char *, size_t *, const unsigned char *, size_t))        \
    F(BIGNUM *, BN_new, (void))                                                                                        \
    F(BIGNUM *, BN_bin2bn, (const unsigned char *, int, BIGNUM *))                                                     \
    F(int, BN_bn2binpad, (const BIGNUM *, unsigned char *, int))                                                       \
    F(int, BN_num_bits, (const BIGNUM *))                                                                              \
    F(int, BN_is_odd, (const BIGNUM *))                                                                                \
    F(void, BN_clear_free, (BIGNUM *))                                                                                 \
    F(BN_CTX *, BN_CTX_new, (void))                                                                                    \
    F(void, BN_CTX_free, (BN_CTX *))                                                                                   \
    F(int, BN_nnmod, (BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *))                                             \
    F(int, BN_mod_add, (BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *))                           \
    F(int, BN_mod_sub, (BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *))                           \
    F(int, BN_mod_mul, (BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *))                           \
    F(int, BN_mod_exp_mont_consttime,                                                                                  \
      (BIGNUM *, const BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *, BN_MONT_CTX *))                             \
    F(EC_GROUP *, EC_GROUP_new_by_curve_name, (int))                                                                   \
    F(EC_GROUP *, EC_GROUP_new_curve_GFp, (const BIGNUM *, const BIGNUM *, const BIGNUM *, BN_CTX *))                  \
    F(int, EC_GROUP_set_generator, (EC_GROUP *, const EC_POINT *, const BIGNUM *, const BIGNUM *))                     \
    F(int, EC_GROUP_get_curve, (const EC_GROUP *, BIGNUM *, BIGNUM *, BIGNUM *, BN_CTX *))                             \
    F(const EC_POINT *, EC_GROUP_get0_generator, (const EC_GROUP *))                                                   \
    F(const BIGNUM *, EC_GROUP_get0_order, (const EC_GROUP *))                                                         \
    F(void, EC_GROUP_free, (EC_GROUP *))                                                                               \
    F(EC_POINT *, EC_POINT_new, (const EC_GROUP *))                                                                    \
    F(void, EC_POINT_clear_free, (EC_POINT *))                                                                         \
    F(int, EC_POINT_oct2point, (const EC_GROUP *, EC_POINT *, const unsigned char *, size_t, BN_CTX *))                \
    F(size_t, EC_POINT_point2oct, (const EC_GROUP *, const EC_POINT *, int, unsigned char *, size_t, BN_CTX *))        \
    F(int, EC_POINT_is_at_infinity, (const EC_GROUP *, const EC_POINT *))                                              \
    F(int, EC_POINT_mul, (const EC_GROUP *, EC_POINT *, const BIGNUM *, const EC_POINT *, const BIGNUM *, BN_CTX *))   \
    F(X509 *, d2i_X509, (X509 **, const unsigned char **, long))                                                       \
    F(void, X509_free, (X509 *))                                                                                       \
    F(EVP_PKEY *, X509_get0_pubkey, (const X509 *))                                                                    \
    F(int, X509_verify, (X509 *, EVP_PKEY *))                                                                          \
    F(const ASN1_STRING *, X509_get0_serialNumber, (const X509 *))                                                     \
    F(const ASN1_STRING *, X509_get0_notBefore, (const X509 *))                                                        \
    F(const ASN1_STRING *, X509_get0_notAfter, (const X509 *))                                                         \
    F(X509_NAME *, X509_get_subject_name, (const X509 *))                                                              \
    F(X509_NAME *, X509_get_issuer_name, (const X509 *))                                                               \
    F(int, X509_NAME_get_text_by_NID, (const X509_NAME *, int, char *, int))                                           \
    F(int, X509_NAME_print_ex, (BIO *, const X509_NAME *, int, unsigned long))                                         \
    F(int, X509_get_signature_info, (X509 *, int *, int *, int *, uint32_t *))                                         \
    F(int, ASN1_TIME_to_tm, (const ASN1_STRING *, struct tm *))                                                        \
    F(int, ASN1_STRING_length, (const ASN1_STRING *))                                                                  \
    F(const unsigned char *, ASN1_STRING_get0_data, (const ASN1_STRING *))                                             \
    F(const BIO_METHOD *, BIO_s_mem, (void))                                                                           \
    F(BIO *, BIO_new, (const BIO_METHOD *))                                                                            \
    F(int, BIO_read, (BIO *, void *, int))                                                                             \
    F(int, BIO_free, (BIO *))                                                                                          \
    F(void, ERR_clear_error, (void))

/* The functions of the opened library, each under its own name with a prefix. */
#define POINTER(result, name, parameters) static result(*p_##name) parameters;
FUNCTIONS(POINTER)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;

/* A function pointer from dlsym, as POSIX wants it stored. */
static int find(void *library, const char *name, void **function) {
    *function = dlsym(library, name);
    return *function != NULL;
}

static void load(void) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
#define FIND(result, name, parameters) &&find(library, #name, (void **)&p_##name)
    is_loaded = 1 FUNCTIONS(FIND);
}

int kazasu_crypto_is_there(void) {
    pthread_once(&once, load);
    return is_loaded;
}

/* What went wrong inside is not asked for: nothing may pile up in the thread's queue of errors. */
static int done(int result) {
    p_ERR_clear_error();
    return result;
}

int kazasu_crypto_digest(const char *name, const uint8_t *data, size_t length, uint8_t *digest, size_t *digest_length) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    const EVP_MD *method = p_EVP_get_digestbyname(name);
    unsigned int count = 0;
    if (method == NULL || p_EVP_Digest(data, length, digest, &count, method, NULL) != 1) return done(0);
    *digest_length = count;
    return done(1);
}

int kazasu_crypto_aes_cbc(int encrypt, const uint8_t *key, size_t key_length, const uint8_t *start, const uint8_t *data,
                          size_t length, uint8_t *output) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    if (length % 16 != 0 || length > INT_MAX) return 0;
    const EVP_CIPHER *cipher;
    switch (key_length) {
    case 16: cipher = p_EVP_aes_128_cbc(); break;
    case 24: cipher = p_EVP_aes_192_cbc(); break;
    case 32: cipher = p_EVP_aes_256_cbc(); break;
    default: return 0;
    }
    EVP_CIPHER_CTX *context = p_EVP_CIPHER_CTX_new();
    if (context == NULL) return done(0);
    int count = 0;
    int result = p_EVP_CipherInit_ex(context, cipher, NULL, key, start, encrypt) == 1 &&
                 p_EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
                 p_EVP_CipherUpdate(context, output, &count, data, (int)length) == 1 && (size_t)count == length;
    p_EVP_CIPHER_CTX_free(context);
    return done(result);
}

static EVP_PKEY *public_key(const uint8_t *key, size_t length) {
    if (length > LONG_MAX) return NULL;
    const unsigned char *at = key;
    return p_d2i_PUBKEY(NULL, &at, (long)length);
}

int kazasu_crypto_verify(const uint8_t *key, size_t key_length, enum kazasu_crypto_scheme scheme, const char *name,
                         const char *mask, const uint8_t *digest, size_t digest_length, const uint8_t *signature,
                         size_t signature_length) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    const EVP_MD *method = name == NULL ? NULL : p_EVP_get_digestbyname(name);
    const EVP_MD *maskMethod = mask == NULL ? method : p_EVP_get_digestbyname(mask);
    if ((name != NULL && method == NULL) || (mask != NULL && maskMethod == NULL)) return done(KAZASU_CRYPTO_UNSUPPORTED);
    EVP_PKEY *known = public_key(key, key_length);
    EVP_PKEY_CTX *context = known == NULL ? NULL : p_EVP_PKEY_CTX_new(known, NULL);
    int is_rsa = known != NULL && p_EVP_PKEY_get_base_id(known) == EVP_PKEY_RSA;
    /* An Ed25519 key, for one, does not sign digests. */
    int is_known = context != NULL && p_EVP_PKEY_verify_init(context) == 1;
    int result = is_known && (method == NULL || p_EVP_PKEY_CTX_set_signature_md(context, method) == 1);
    if (result && is_rsa) {
        /* Without a digest, PKCS #1 would accept any block that is padded right. */
        result = method != NULL;
        if (result && scheme == KAZASU_CRYPTO_PSS) {
            result = p_EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
                     p_EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_AUTO) == 1 &&
                     p_EVP_PKEY_CTX_set_rsa_mgf1_md(context, maskMethod) == 1;
        } else if (result) {
            result = p_EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1;
        }
    } else if (result && scheme == KAZASU_CRYPTO_PSS) {
        /* A key that is bound to PSS brings its parameters. */
        result = p_EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_AUTO) == 1;
    }
    result = result && p_EVP_PKEY_verify(context, signature, signature_length, digest, digest_length) == 1;
    p_EVP_PKEY_CTX_free(context);
    p_EVP_PKEY_free(known);
    return done(is_known ? result : KAZASU_CRYPTO_UNSUPPORTED);
}

int kazasu_crypto_rsa_public(const uint8_t *key, size_t key_length, const uint8_t *signature, size_t signature_length,
                             uint8_t *output, size_t *output_length) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    EVP_PKEY *known = public_key(key, key_length);
    EVP_PKEY_CTX *context =
        known == NULL || p_EVP_PKEY_get_base_id(known) != EVP_PKEY_RSA ? NULL : p_EVP_PKEY_CTX_new(known, NULL);
    size_t needed = 0;
    int result = context != NULL && p_EVP_PKEY_verify_recover_init(context) == 1 &&
                 p_EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1 &&
                 p_EVP_PKEY_verify_recover(context, NULL, &needed, signature, signature_length) == 1 &&
                 needed <= *output_length &&
                 p_EVP_PKEY_verify_recover(context, output, output_length, signature, signature_length) == 1;
    p_EVP_PKEY_CTX_free(context);
    p_EVP_PKEY_free(known);
    return done(result);
}

static BIGNUM *number(const uint8_t *bytes, size_t length) {
    return length > INT_MAX ? NULL : p_BN_bin2bn(bytes, (int)length, NULL);
}

/* A point, which must be uncompressed: 04, x, y. */
static EC_POINT *point_of(const EC_GROUP *group, const uint8_t *bytes, size_t length, BN_CTX *context) {
    if (length == 0 || bytes[0] != 4) return NULL;
    EC_POINT *point = p_EC_POINT_new(group);
    if (point != NULL && p_EC_POINT_oct2point(group, point, bytes, length, context) == 1) return point;
    p_EC_POINT_clear_free(point);
    return NULL;
}

/* The group of a curve; NULL where it is none that this libcrypto knows. */
static EC_GROUP *group_of(const struct kazasu_curve *curve, BN_CTX *context) {
    if (curve->number != 0) return p_EC_GROUP_new_by_curve_name(curve->number);
    size_t width = curve->width;
    /* 521 bits are the most of any curve in use. */
    if (width == 0 || width > 66 || curve->length <= 5 * width + 1 || curve->length > 6 * width + 2) return NULL;
    const uint8_t *generator = curve->parameters + 3 * width;
    const uint8_t one = 1;
    BIGNUM *p = number(curve->parameters, width);
    BIGNUM *a = number(curve->parameters + width, width);
    BIGNUM *b = number(curve->parameters + 2 * width, width);
    BIGNUM *order = number(generator + 1 + 2 * width, curve->length - 5 * width - 1);
    BIGNUM *cofactor = number(&one, 1);
    EC_GROUP *group = NULL;
    if (p != NULL && a != NULL && b != NULL && order != NULL && cofactor != NULL && p_BN_is_odd(p) == 1)
        group = p_EC_GROUP_new_curve_GFp(p, a, b, context);
    EC_POINT *point = group == NULL ? NULL : point_of(group, generator, 1 + 2 * width, context);
    if (point == NULL || p_EC_GROUP_set_generator(group, point, order, cofactor) != 1) {
        p_EC_GROUP_free(group);
        group = NULL;
    }
    p_EC_POINT_clear_free(point);
    p_BN_clear_free(p);
    p_BN_clear_free(a);
    p_BN_clear_free(b);
    p_BN_clear_free(order);
    p_BN_clear_free(cofactor);
    return group;
}

int kazasu_curve_parameters(int name, uint8_t *parameters, size_t *width, size_t *length) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    BN_CTX *context = p_BN_CTX_new();
    EC_GROUP *group = p_EC_GROUP_new_by_curve_name(name);
    BIGNUM *p = p_BN_new(), *a = p_BN_new(), *b = p_BN_new();
    int result = KAZASU_CRYPTO_UNSUPPORTED;
    if (context != NULL && group != NULL && p != NULL && a != NULL && b != NULL &&
        p_EC_GROUP_get_curve(group, p, a, b, context) == 1) {
        int count = (p_BN_num_bits(p) + 7) / 8;
        size_t wide = (size_t)count;
        const BIGNUM *order = p_EC_GROUP_get0_order(group);
        int order_count = (p_BN_num_bits(order) + 7) / 8;
        size_t needed = 5 * wide + 1 + (size_t)order_count;
        uint8_t *generator = parameters + 3 * wide;
        result = needed <= *length && p_BN_bn2binpad(p, parameters, count) == count &&
                 p_BN_bn2binpad(a, parameters + wide, count) == count &&
                 p_BN_bn2binpad(b, parameters + 2 * wide, count) == count &&
                 p_EC_POINT_point2oct(group, p_EC_GROUP_get0_generator(group), POINT_CONVERSION_UNCOMPRESSED, generator,
                                      1 + 2 * wide, context) == 1 + 2 * wide &&
                 p_BN_bn2binpad(order, generator + 1 + 2 * wide, order_count) == order_count;
        *width = wide;
        *length = needed;
    }
    p_BN_clear_free(p);
    p_BN_clear_free(a);
    p_BN_clear_free(b);
    p_EC_GROUP_free(group);
    p_BN_CTX_free(context);
    return done(result);
}

int kazasu_curve_sum(const struct kazasu_curve *curve, const uint8_t *first, size_t first_length, const uint8_t *point,
                     size_t point_length, const uint8_t *second, size_t second_length, uint8_t *result, size_t *length) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    BN_CTX *context = p_BN_CTX_new();
    EC_GROUP *group = context == NULL ? NULL : group_of(curve, context);
    if (group == NULL) {
        p_BN_CTX_free(context);
        return done(KAZASU_CRYPTO_UNSUPPORTED);
    }
    EC_POINT *sum = p_EC_POINT_new(group);
    EC_POINT *given = point_length == 0 ? NULL : point_of(group, point, point_length, context);
    BIGNUM *n = first_length == 0 ? NULL : number(first, first_length);
    BIGNUM *m = point_length == 0 ? NULL : number(second, second_length);
    int is_whole = (first_length == 0 || n != NULL) && (point_length == 0 || (m != NULL && given != NULL)) &&
                   (n != NULL || given != NULL);
    int is_done = sum != NULL && is_whole && p_EC_POINT_mul(group, sum, n, given, m, context) == 1 &&
                  p_EC_POINT_is_at_infinity(group, sum) == 0;
    if (is_done) {
        size_t count = p_EC_POINT_point2oct(group, sum, POINT_CONVERSION_UNCOMPRESSED, result, *length, context);
        is_done = count > 0;
        *length = count;
    }
    p_BN_clear_free(n);
    p_BN_clear_free(m);
    p_EC_POINT_clear_free(given);
    p_EC_POINT_clear_free(sum);
    p_EC_GROUP_free(group);
    p_BN_CTX_free(context);
    return done(is_done);
}

int kazasu_modular(enum kazasu_modular operation, const uint8_t *first, size_t first_length, const uint8_t *second,
                   size_t second_length, const uint8_t *modulus, size_t modulus_length, uint8_t *result) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    BN_CTX *context = p_BN_CTX_new();
    BIGNUM *a = number(first, first_length), *b = number(second, second_length), *m = number(modulus, modulus_length);
    BIGNUM *r = p_BN_new();
    int is_done = context != NULL && a != NULL && b != NULL && m != NULL && r != NULL && p_BN_is_odd(m) == 1;
    if (is_done) {
        switch (operation) {
        case KAZASU_MODULAR_ADD: is_done = p_BN_mod_add(r, a, b, m, context); break;
        case KAZASU_MODULAR_SUBTRACT: is_done = p_BN_mod_sub(r, a, b, m, context); break;
        case KAZASU_MODULAR_MULTIPLY: is_done = p_BN_mod_mul(r, a, b, m, context); break;
        case KAZASU_MODULAR_POWER:
            /* The base has to be below the modulus there. */
            is_done = p_BN_nnmod(a, a, m, context) == 1 && p_BN_mod_exp_mont_consttime(r, a, b, m, context, NULL);
            break;
        }
    }
    is_done = is_done == 1 && p_BN_bn2binpad(r, result, (int)modulus_length) == (int)modulus_length;
    p_BN_clear_free(a);
    p_BN_clear_free(b);
    p_BN_clear_free(m);
    p_BN_clear_free(r);
    p_BN_CTX_free(context);
    return done(is_done);
}

struct kazasu_certificate {
    uint8_t *key;
    size_t key_length;
    uint8_t serial[64];
    size_t serial_length;
    char subject[1024];
    char issuer[1024];
    char common_name[256];
    char not_before[16];
    char not_after[16];
    size_t length;
};

static void copy_name(const X509_NAME *name, char text[1024]) {
    BIO *memory = p_BIO_new(p_BIO_s_mem());
    text[0] = 0;
    if (memory == NULL) return;
    /* Without ASN1_STRFLGS_ESC_MSB: UTF-8 stays as it is. */
    if (name != NULL && p_X509_NAME_print_ex(memory, name, 0, XN_FLAG_RFC2253 & ~4UL) >= 0) {
        int count = p_BIO_read(memory, text, 1023);
        text[count > 0 ? count : 0] = 0;
    }
    p_BIO_free(memory);
}

static int copy_time(const ASN1_STRING *time, char text[16]) {
    struct tm parts;
    text[0] = 0;
    if (time == NULL || p_ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    return strftime(text, 16, "%Y%m%d%H%M%S", &parts) == 14;
}

static X509 *read_x509(const uint8_t *der, size_t length, size_t *used) {
    if (length > LONG_MAX) return NULL;
    const unsigned char *at = der;
    X509 *certificate = p_d2i_X509(NULL, &at, (long)length);
    if (certificate != NULL) *used = (size_t)(at - der);
    return certificate;
}

static int copy_fields(X509 *x509, struct kazasu_certificate *fields) {
    EVP_PKEY *key = p_X509_get0_pubkey(x509);
    int key_length = key == NULL ? 0 : p_i2d_PUBKEY(key, NULL);
    const ASN1_STRING *serial = p_X509_get0_serialNumber(x509);
    int serial_length = serial == NULL ? -1 : p_ASN1_STRING_length(serial);
    if (key_length <= 0 || serial_length < 0 || (size_t)serial_length > sizeof fields->serial ||
        !copy_time(p_X509_get0_notBefore(x509), fields->not_before) ||
        !copy_time(p_X509_get0_notAfter(x509), fields->not_after))
        return 0;
    fields->key = malloc((size_t)key_length);
    if (fields->key == NULL) return 0;
    unsigned char *to = fields->key;
    p_i2d_PUBKEY(key, &to);
    fields->key_length = (size_t)key_length;
    if (serial_length > 0) memcpy(fields->serial, p_ASN1_STRING_get0_data(serial), (size_t)serial_length);
    fields->serial_length = (size_t)serial_length;
    copy_name(p_X509_get_subject_name(x509), fields->subject);
    copy_name(p_X509_get_issuer_name(x509), fields->issuer);
    if (p_X509_NAME_get_text_by_NID(p_X509_get_subject_name(x509), NID_commonName, fields->common_name,
                                    sizeof fields->common_name) < 0)
        fields->common_name[0] = 0;
    return 1;
}

int kazasu_certificate_read(const uint8_t *der, size_t length, struct kazasu_certificate **certificate) {
    *certificate = NULL;
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    struct kazasu_certificate *fields = calloc(1, sizeof *fields);
    X509 *x509 = fields == NULL ? NULL : read_x509(der, length, &fields->length);
    int result = x509 != NULL && copy_fields(x509, fields);
    /* A certificate in every other respect: GOST, or a point that is not on the curve that it names. */
    if (x509 != NULL && p_X509_get0_pubkey(x509) == NULL) result = KAZASU_CRYPTO_UNSUPPORTED;
    p_X509_free(x509);
    if (result == 1) {
        *certificate = fields;
    } else {
        kazasu_certificate_free(fields);
    }
    return done(result);
}

void kazasu_certificate_free(struct kazasu_certificate *certificate) {
    if (certificate != NULL) free(certificate->key);
    free(certificate);
}

static const uint8_t *text(const char *field, size_t *length) {
    *length = strlen(field);
    return (const uint8_t *)field;
}

const uint8_t *kazasu_certificate_bytes(const struct kazasu_certificate *certificate,
                                        enum kazasu_certificate_field field, size_t *length) {
    switch (field) {
    case KAZASU_CERTIFICATE_KEY: *length = certificate->key_length; return certificate->key;
    case KAZASU_CERTIFICATE_SERIAL: *length = certificate->serial_length; return certificate->serial;
    case KAZASU_CERTIFICATE_SUBJECT: return text(certificate->subject, length);
    case KAZASU_CERTIFICATE_ISSUER: return text(certificate->issuer, length);
    case KAZASU_CERTIFICATE_COMMON_NAME: return text(certificate->common_name, length);
    case KAZASU_CERTIFICATE_NOT_BEFORE: return text(certificate->not_before, length);
    case KAZASU_CERTIFICATE_NOT_AFTER: return text(certificate->not_after, length);
    }
    *length = 0;
    return NULL;
}

size_t kazasu_certificate_length(const struct kazasu_certificate *certificate) { return certificate->length; }

int kazasu_certificate_verify(const uint8_t *der, size_t length, const uint8_t *key, size_t key_length) {
    if (!kazasu_crypto_is_there()) return KAZASU_CRYPTO_MISSING;
    size_t used = 0;
    X509 *certificate = read_x509(der, length, &used);
    EVP_PKEY *known = public_key(key, key_length);
    int result = certificate != NULL && known != NULL && p_X509_verify(certificate, known) == 1;
    if (certificate != NULL && !result && p_X509_get_signature_info(certificate, NULL, NULL, NULL, NULL) != 1)
        result = KAZASU_CRYPTO_UNSUPPORTED;
    p_X509_free(certificate);
    p_EVP_PKEY_free(known);
    return done(result);
}
