// The command line as a separate process, in a scratch directory with a data directory for each test.

import { afterAll, beforeAll, beforeEach, expect } from 'bun:test'
import { join } from 'node:path'
import type { Settlement } from '../../src/store/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { makeDirectory, type TestDirectory } from '../contract/databases.ts'
import { type Ended, program, runCommand } from './command-line.ts'

export interface Cli {
  readonly program: string
  readonly scratch: string
  /** Not made yet; another one in each test. */
  readonly data: string
  /** Runs in the scratch directory, with only the given environment. */
  run(args: readonly string[], env?: Record<string, string>): Promise<Ended>
  /** Runs with `--json` on the data directory; expects success and nothing on stderr. */
  json(...args: string[]): Promise<ReturnType<typeof JSON.parse>>
  /** Works on the data as a server would, in this process. */
  withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
}

/** Call it once, at the top of a test file. */
export function useCli(): Cli {
  let directory: TestDirectory
  let made = 0
  beforeAll(() => {
    directory = makeDirectory()
  })
  afterAll(() => directory.remove())
  beforeEach(() => {
    made += 1
  })
  const cli: Cli = {
    program,
    get scratch() {
      return directory.path
    },
    get data() {
      return join(directory.path, `data-${made}`)
    },
    run: (args, env = {}) => runCommand(args, directory.path, env),
    async json(...args) {
      const { code, out, err } = await cli.run([...args, '--data', cli.data, '--json'])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      return JSON.parse(out)
    },
    async withStore(work) {
      const store = await openStore({ dataDir: cli.data, databaseUrl: null })
      try {
        return await work(store)
      } finally {
        await store.close()
      }
    },
  }
  return cli
}

/** A row as a node without leases hands it in: its cost is taken from the wallet's free money. */
export function settlementOf(row: UsageRow): Settlement {
  return { node: 'test', epoch: 1, row, fromLeaseNano: 0n, capNano: null, idempotency: null }
}
