/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CCURL_SHIM_H
#define KAZASU_CCURL_SHIM_H

#include <curl/curl.h>

/* libcurl's options take a variable number of arguments, which Swift cannot pass. */

static inline size_t kazasu_discard(char *data, size_t size, size_t count, void *context) {
    (void)data;
    (void)context;
    return size * count;
}

static inline int kazasu_cancelled(void *flag, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return __atomic_load_n((int *)flag, __ATOMIC_RELAXED);
}

static inline void kazasu_cancel(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }

/* Sends one POST and waits for its answer. `headers` is a list of lines; `status` and `retry_after` (seconds) are 0
   without an answer. `kazasu_cancel(cancelled)` ends the wait. */
static inline CURLcode kazasu_post(CURL *handle, const char *url, const char *body, long length,
                                   const struct curl_slist *headers, long milliseconds, int *cancelled, long *status,
                                   curl_off_t *retry_after) {
    *status = 0;
    *retry_after = 0;
    curl_easy_reset(handle);
    curl_easy_setopt(handle, CURLOPT_URL, url);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, length);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, kazasu_discard);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, kazasu_cancelled);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, cancelled);
    CURLcode code = curl_easy_perform(handle);
    if (code == CURLE_OK) {
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
        curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, retry_after);
    }
    return code;
}

#endif
