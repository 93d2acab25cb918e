// Empty databases for tests: a temporary directory, or a schema of its own on the PostgreSQL of TEST_DATABASE_URL.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** Null where no PostgreSQL was given: its tests are then left out. */
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
  /** Connects with the fresh schema in front, under its name: other tests use the same server. */
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
    // URLSearchParams writes a space as `+`, which the driver does not read back.
    url: url.href.replaceAll('+', '%20'),
    drop: () => runSql(databaseUrl, `DROP SCHEMA ${schema} CASCADE`),
  }
}

/** Ends every connection that was made by such a URL, but for the one this is sent on. */
export function cutOf(schemaUrl: string): string {
  const name = new URL(schemaUrl).searchParams.get('application_name')
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name = '${name}' AND pid <> pg_backend_pid()`
}

async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
