/* schema.h - private to adapters/sqlite: the text of fixtures/schema.sql, compiled in
 * SPDX-License-Identifier: MIT
 *
 * The Makefile generates schema.c below BUILD.
 */
#ifndef CPUBIND_SQLITE_SCHEMA_H
#define CPUBIND_SQLITE_SCHEMA_H

/* Followed by NUL. */
extern const char cpubind_priv_corpus_schema[];

#endif /* CPUBIND_SQLITE_SCHEMA_H */
