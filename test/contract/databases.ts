// Empty databases for tests: a temporary directory, or a separate schema on the PostgreSQL of TEST_DATABASE_URL.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** Null if no PostgreSQL was given: its tests are then left out. */
export const testDatabaseUrl = process.env['TEST_DATABASE_URL'] ?? null

export interface TestDirectory {
  readonly path: string
  remove(): void
}

export function makeDirectory(): TestDirectory {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export interface TestSchema {
  /**
   * Connects with the new schema first in the search path and in the application name, since other tests use the same
   * server.
   */
  readonly url: string
  drop(): Promise<void>
}

export async function makeSchema(databaseUrl: string): Promise<TestSchema> {
  const schema = `test_${randomBytes(8).toString('hex')}`
  await runSql(databaseUrl, `CREATE SCHEMA ${schema}`)
  const url = new URL(databaseUrl)
  url.searchParams.set('options', `-c search_path=${schema}`)
  url.searchParams.set('application_name', schema)
  return {
    // URLSearchParams writes a space as `+`, which the driver does not decode.
    url: url.href.replaceAll('+', '%20'),
    drop: () =>
      runSql(
        databaseUrl,
        `DROP SCHEMA ${schema} CASCADE; DROP SCHEMA IF EXISTS ${schema}_seed CASCADE`,
      ),
  }
}

/** How a schema is reset to its state when this was called: migrated, with nothing else in it. */
export async function emptierOf(
  databaseUrl: string,
  schemaUrl: string,
): Promise<() => Promise<void>> {
  const schema = new URL(schemaUrl).searchParams.get('application_name') ?? ''
  const seed = `${schema}_seed`
  const tables = (of: string) =>
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${of}'`
  await runSql(
    databaseUrl,
    `DO $$ DECLARE t RECORD; filled BOOLEAN; BEGIN
      CREATE SCHEMA ${seed};
      FOR t IN ${tables(schema)} LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM ${schema}.%I)', t.name) INTO filled;
        IF filled THEN
          EXECUTE format('CREATE TABLE ${seed}.%I AS TABLE ${schema}.%I', t.name, t.name);
        END IF;
      END LOOP;
    END $$`,
  )
  // Without triggers and foreign keys, which only a superuser may disable.
  const empty = `DO $$ DECLARE t RECORD; BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    FOR t IN ${tables(schema)} LOOP EXECUTE format('DELETE FROM ${schema}.%I', t.name); END LOOP;
    FOR t IN ${tables(seed)} LOOP
      EXECUTE format('INSERT INTO ${schema}.%I OVERRIDING SYSTEM VALUE SELECT * FROM ${seed}.%I', t.name, t.name);
    END LOOP;
    FOR t IN SELECT sequencename AS name, start_value FROM pg_sequences WHERE schemaname = '${schema}' LOOP
      PERFORM setval(format('${schema}.%I', t.name), t.start_value, false);
    END LOOP;
  END $$`
  return () => runSql(databaseUrl, empty)
}

/** Ends every connection that used such a URL, except the one that sends this. */
export function cutOf(schemaUrl: string): string {
  const name = new URL(schemaUrl).searchParams.get('application_name')
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = '${name}' AND pid <> pg_backend_pid()`
}

export async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
