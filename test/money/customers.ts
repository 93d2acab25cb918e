// A gateway with two customers in front of a scripted vendor, over several runs of its process if a test needs them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { UsageRow } from '../../src/store/usage-row.ts'
import { makeSchema } from '../contract/databases.ts'
import { authorized, eventually } from '../support/clients.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** Keys of the accounts `ann` and `bob`, and of one without money. */
export const ann = 'sk-ann-0123456789abcdef'
export const bob = 'sk-bob-0123456789abcdef'
export const poor = 'sk-poor-0123456789abcdef'
/** A second key of `ann`, whose replies show their cost. */
export const seesCost = 'sk-sees-0123456789abcdef'

export interface ShopOptions {
  /** A PostgreSQL on which a schema is made; left out: SQLite. */
  readonly databaseUrl?: string
  readonly workers?: number
  /** Merged with the sections of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>
}

export interface Shop extends AsyncDisposable {
  readonly upstream: Upstream
  readonly url: string
  readonly dataDir: string
  readonly databaseUrl: string | null
  post(path: string, body: unknown, headers?: Headers, key?: string): Promise<Response>
  get(path: string, key?: string, method?: string): Promise<Response>
  /** Reads the data as another process does. */
  withStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result>
  /** Newest first. */
  rows(): Promise<readonly UsageRow[]>
  /** Waits for it. */
  row(requestId: string | null): Promise<UsageRow>
  /** kill -9. */
  kill(): Promise<void>
  start(): Promise<void>
}

type Headers = Readonly<Record<string, string>>

const models = {
  '*': { prices: { input: '1', output: '2' } },
  'chat-only': { kind: 'chat', prices: { input: '1', output: '2' } },
  embedder: { kind: 'embedding', prices: { input: '3' } },
}

export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-shop-'))
  const upstream = await startUpstream()
  const schema = options.databaseUrl === undefined ? null : await makeSchema(options.databaseUrl)
  const file = join(folder, 'tollgate.yaml')
  const channel = { id: 'main', vendor: 'openai-compatible', models: ['*'] }
  const key = (name: string, secret: string, account = name) => ({ name, secret, account })
  const config = {
    channels: [{ ...channel, baseUrl: upstream.url, key: 'sk-vendor-0123456789' }],
    models,
    accounts: { ann: { credit: '100' }, bob: { credit: '100' }, poor: { credit: '0' } },
    keys: [
      key('ann', ann),
      key('bob', bob),
      key('poor', poor),
      { ...key('sees', seesCost, 'ann'), showCost: true },
    ],
    ...options.config,
  }
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(config))
  const dataDir = join(folder, 'data')
  const databaseUrl = schema?.url ?? null
  const words = ['--config', file, '--workers', String(options.workers ?? 1)]
  const env: Record<string, string> = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }
  let server: ServerProcess = await startServer(folder, {
    words: [...words, '--data', dataDir],
    env,
  })
  let store: Store | null = null
  const shop: Shop = {
    upstream,
    dataDir,
    databaseUrl,
    get url() {
      return server.url
    },
    post: (path, body, headers = {}, key = ann) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { ...authorized(key), ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, key = ann, method = 'GET') =>
      fetch(server.url + path, { method, headers: { authorization: `Bearer ${key}` } }),
    async withStore(work) {
      store ??= await openStore({ dataDir, databaseUrl })
      return await work(store)
    },
    rows: () => shop.withStore((store) => store.usage.list({ limit: 10_000 })),
    row: (requestId) =>
      eventually(async () => (await shop.rows()).find((row) => row.requestId === requestId)),
    kill: () => server.kill(),
    async start() {
      server = await startServer(folder, { words: [...words, '--data', dataDir], env })
    },
    async [Symbol.asyncDispose]() {
      await server.kill()
      await store?.close()
      await upstream.close()
      await schema?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return shop
}
