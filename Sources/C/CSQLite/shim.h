/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KAZASU_CSQLITE_SHIM_H
#define KAZASU_CSQLITE_SHIM_H

#include <sqlite3.h>

/* What Swift does not import: a function with any number of arguments, and a constant that is a cast (SQLITE_TRANSIENT). */

/* A misspelled name in double quotes is an error, not a text. */
static inline void kazasu_sqlite_refuse_quoted_text(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

/* SQLite copies the bytes. */
static inline int kazasu_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count)
{
    return sqlite3_bind_text64(statement, index, text ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int kazasu_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count)
{
    return count ? sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT)
                 : sqlite3_bind_zeroblob(statement, index, 0);
}

#endif
