/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CCURL_SHIM_H
#define KAZASU_CCURL_SHIM_H

#include <curl/curl.h>

#endif
