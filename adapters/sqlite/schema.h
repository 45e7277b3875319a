/* schema.h - private to adapters/sqlite: the schema and that of shapes, compiled in
 * SPDX-License-Identifier: MIT
 *
 * The Makefile generates schema.c below BUILD.
 */
#ifndef CPUBIND_SQLITE_SCHEMA_H
#define CPUBIND_SQLITE_SCHEMA_H

/* fixtures/schema.sql, and what fixtures/shapes.sql adds to it; each followed by NUL. */
extern const char cpubind_priv_corpus_schema[];
extern const char cpubind_priv_shapes_schema[];

#endif /* CPUBIND_SQLITE_SCHEMA_H */
