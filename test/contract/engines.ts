// A store with its engine, on SQLite and, if TEST_DATABASE_URL names one, on PostgreSQL.

import { afterAll, afterEach, describe } from 'bun:test'
import type { Engine } from '../../src/store/engine.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { historyFile } from '../../src/store/sqlite-history.ts'
import type { Store } from '../../src/store/store.ts'
import { createStore } from '../../src/store/tables.ts'
import { emptierOf, makeDirectory, makeSchema, testDatabaseUrl } from './databases.ts'

export interface Bench {
  readonly engine: Engine
  readonly store: Store
  /** Another connection to the same data, as another process would have. */
  open(): Promise<Store>
}

/**
 * Describes the tests once for each engine; `start` gives an empty database that is removed after the test, and `share`
 * one that is removed after all of them.
 */
export function onEachEngine(
  name: string,
  tests: (start: () => Promise<Bench>, kind: Engine['kind'], share: () => Promise<Bench>) => void,
): void {
  describe(`${name} on sqlite`, () => {
    const make = async () => {
      const directory = makeDirectory()
      return {
        open: () => openSqlite(directory.path),
        history: () => historyFile(directory.path),
        remove: async () => directory.remove(),
      }
    }
    tests(starter(make, afterEach), 'sqlite', starter(make, afterAll))
  })
  const url = testDatabaseUrl
  if (url === null) return
  describe(`${name} on postgres`, () => {
    const share = async () => {
      const schema = await makeSchema(url)
      return { open: () => openPostgres(schema.url), remove: () => schema.drop() }
    }
    tests(starter(keptSchema(url), afterEach), 'postgres', starter(share, afterAll))
  })
}

interface Place {
  open(): Promise<Engine>
  /** Where message history has a separate database. */
  history?(): Engine
  remove(): Promise<void>
}

/**
 * One that is emptied after each test and dropped after all: most of a test's time goes into making and migrating it.
 */
function keptSchema(url: string): () => Promise<Place> {
  let kept: (Place & { drop(): Promise<void> }) | null = null
  afterAll(() => kept?.drop())
  return async () => {
    if (kept !== null) return kept
    const schema = await makeSchema(url)
    const open = () => openPostgres(schema.url)
    await (await open()).close()
    kept = { open, remove: await emptierOf(url, schema.url), drop: () => schema.drop() }
    return kept
  }
}

function starter(
  make: () => Promise<Place>,
  after: (end: () => Promise<void>) => void,
): () => Promise<Bench> {
  const engines: Engine[] = []
  let place: Place | null = null
  after(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.close()))
    await place?.remove()
    place = null
  })
  return async () => {
    const here = await make()
    place = here
    const open = async () => {
      const engine = await here.open()
      const history = here.history?.() ?? engine
      engines.push(engine)
      if (history !== engine) engines.push(history)
      return { engine, store: createStore(engine, history) }
    }
    const { engine, store } = await open()
    return { engine, store, open: async () => (await open()).store }
  }
}
