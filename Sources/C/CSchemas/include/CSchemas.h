/* SPDX-License-Identifier: Apache-2.0 */

/* The schemas of Docs/schemas that methods of `serve` and `rpc` answer with. */

#ifndef KAZASU_SCHEMAS_H
#define KAZASU_SCHEMAS_H

struct kazasu_schema {
    /* As in `balance` for Docs/schemas/balance.json. */
    const char *name;
    const unsigned char *text;
    unsigned long length;
};

/* The first of them. */
extern const struct kazasu_schema *kazasu_schemas_start(void);
extern const unsigned long kazasu_schema_count;

#endif
