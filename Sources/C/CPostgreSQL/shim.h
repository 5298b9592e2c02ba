/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CPOSTGRESQL_SHIM_H
#define KAZASU_CPOSTGRESQL_SHIM_H

#include <libpq-fe.h>

#endif
