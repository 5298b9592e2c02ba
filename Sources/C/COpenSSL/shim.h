/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_COPENSSL_SHIM_H
#define KAZASU_COPENSSL_SHIM_H

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#endif
