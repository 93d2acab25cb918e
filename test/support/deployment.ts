// Gateways as operators run them, as real processes on one ledger: SQLite in a folder, or PostgreSQL under several.

import { expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { auditLedger } from '../../src/admin/audit.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { makeDirectory, makeSchema, testDatabaseUrl } from '../contract/databases.ts'
import { authorized } from './clients.ts'
import { runCommand } from './command-line.ts'
import { type ServerProcess, startServer } from './server-process.ts'

type Section = Readonly<Record<string, unknown>>

/** Nano-units of the prices below. */
export const tokenNano = { input: 1_000n, output: 2_000n }
export const secret = 'sk-deployment-0123456789'

/** `databaseUrl` null: SQLite. */
export interface EngineCase {
  readonly engine: 'sqlite' | 'postgres'
  readonly databaseUrl: string | null
}

/** Empty if no PostgreSQL was given. */
export const postgresCases: readonly EngineCase[] =
  testDatabaseUrl === null ? [] : [{ engine: 'postgres', databaseUrl: testDatabaseUrl }]

/** Empty if a test may not start and end separate servers. */
export const ownPostgresCases: readonly EngineCase[] =
  Bun.env['TEST_INITDB'] === undefined ? [] : postgresCases

export const engineCases: readonly EngineCase[] = [
  { engine: 'sqlite', databaseUrl: null },
  ...postgresCases,
]

export interface StartOptions {
  /** Each node has a separate data directory; 0 unless given. */
  readonly node?: number
  readonly workers?: number
  readonly env?: Readonly<Record<string, string>>
  readonly words?: readonly string[]
  /** As `ServerOptions.under`. */
  readonly under?: readonly string[]
  /** As `ServerOptions.command`. */
  readonly command?: string
}

export interface Deployment {
  readonly configFile: string
  /** Of its own schema; null: SQLite. */
  readonly databaseUrl: string | null
  /** The books, as a process beside the gateways reads them; with `apart` only after `openBooks`. */
  readonly store: Store
  openBooks(): Promise<void>
  dataDir(node?: number): string
  /** Resolves when the server has printed that it serves. */
  start(options?: StartOptions): Promise<ServerProcess>
  /** Runs the command line on the books; returns its output as JSON. */
  command(...words: readonly string[]): Promise<ReturnType<typeof JSON.parse>>
  /** Ends everything that was started, and removes everything. */
  remove(): Promise<void>
}

export interface DeploymentOptions {
  readonly databaseUrl: string | null
  /** The first node's data directory; a temporary one unless given. */
  readonly dataDir?: string
  /** The database URL of the gateways; the same database unless given. */
  readonly through?: (databaseUrl: string) => string
  /** Credits of accounts, decimals; each has a key `SECRET-ACCOUNT`. */
  readonly credits: Readonly<Record<string, string>>
  /** Further sections of the configuration. */
  readonly config?: Section
  /** This process does not open the books by itself: on SQLite its own connection would keep the files in order. */
  readonly apart?: boolean
}

export function keyOf(account: string): string {
  return `${secret}-${account}`
}

export async function deploy(options: DeploymentOptions): Promise<Deployment> {
  const folder = makeDirectory()
  const { databaseUrl } = options
  const schema = databaseUrl === null ? null : await makeSchema(databaseUrl)
  const configFile = join(folder.path, 'tollgate.yaml')
  writeFileSync(configFile, JSON.stringify(configOf(options)))
  const dataDir = (node = 0) =>
    node === 0 && options.dataDir !== undefined
      ? options.dataDir
      : join(folder.path, `node-${node}`)
  mkdirSync(dataDir())
  let store: Store | null = null
  const openBooks = async () => {
    store ??= await openStore({ dataDir: dataDir(), databaseUrl: schema?.url ?? null })
  }
  if (options.apart !== true) await openBooks()
  const servers: ServerProcess[] = []
  return {
    configFile,
    databaseUrl: schema?.url ?? null,
    get store() {
      if (store === null) throw new Error('The books are not open.')
      return store
    },
    openBooks,
    dataDir,
    async start({ node = 0, workers = 1, env = {}, words = [], under = [], command } = {}) {
      mkdirSync(dataDir(node), { recursive: true })
      const through = options.through ?? ((url) => url)
      const server = await startServer(dataDir(node), {
        words: ['--config', configFile, '--workers', String(workers), ...words],
        env: { ...(schema === null ? {} : { DATABASE_URL: through(schema.url) }), ...env },
        under,
        ...(command !== undefined && { command }),
      })
      servers.push(server)
      return server
    },
    async command(...words) {
      const env = schema === null ? {} : { DATABASE_URL: schema.url }
      const ended = await runCommand([...words, '--data', dataDir(), '--json'], folder.path, env)
      if (ended.out === '')
        throw new Error(`${words.join(' ')} ended with ${ended.code}: ${ended.err}`)
      return JSON.parse(ended.out)
    },
    async remove() {
      await Promise.all(servers.map((server) => server.kill()))
      await store?.close()
      await schema?.drop()
      folder.remove()
    },
  }
}

function configOf({ credits, config = {} }: DeploymentOptions): Section {
  const accounts = Object.keys(credits)
  return {
    models: { '*': { prices: { input: '1', output: '2' } } },
    accounts: Object.fromEntries(accounts.map((id) => [id, { credit: credits[id] }])),
    keys: accounts.map((id) => ({ name: id, account: id, secret: keyOf(id) })),
    ...config,
    server: { drainDelayMs: 0, ...(config['server'] as object | undefined) },
  }
}

/** The result of `tollgate audit`: it finds nothing, nothing is set aside, and no wallet is below zero. */
export async function expectCleanAudit(deployment: Deployment): Promise<void> {
  const { ok, findings, setAside } = await auditLedger(deployment)
  expect({ ok, findings, setAside }).toEqual({ ok: true, findings: [], setAside: 0 })
}

/**
 * Checks that a wallet has its credit less what its usage rows say it paid; repeated for a while, since requests may be
 * settled between the two reads. Returns the rows.
 */
export async function expectBalances(
  deployment: Deployment,
  creditsNano: Readonly<Record<string, bigint>>,
) {
  const deadlineMs = performance.now() + 5_000
  for (;;) {
    const { rows, found, expected } = await readBalances(deployment, creditsNano)
    if (Bun.deepEquals(found, expected) || performance.now() > deadlineMs) {
      expect(found).toEqual(expected)
      expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(rows.length)
      return rows
    }
    await Bun.sleep(20)
  }
}

async function readBalances({ store }: Deployment, creditsNano: Readonly<Record<string, bigint>>) {
  const expected = new Map(Object.entries(creditsNano))
  const found = new Map<string, bigint | undefined>()
  const rows = await store.usage.list({ limit: 1_000_000 })
  for (const account of expected.keys())
    found.set(account, (await store.journal.wallet(account))?.postedNano)
  for (const { account, chargeNano } of rows) {
    const left = expected.get(account)
    if (left !== undefined) expected.set(account, left - chargeNano)
  }
  return { rows, found, expected }
}

/** The result of one request: `whole` if the reply ended normally. */
export interface Outcome {
  readonly requestId: string
  readonly status: number
  readonly text: string
  readonly whole: boolean
  readonly startedMs: number
  readonly elapsedMs: number
}

/**
 * Sends a chat and reads the reply to its end, or until `signal` says to leave. A broken connection is one possible
 * result. `onBytes` gets each piece of the reply, with its status.
 */
export async function chat(
  url: string,
  account: string,
  body: Section,
  signal?: AbortSignal,
  onBytes?: (status: number) => void,
): Promise<Outcome> {
  const startedMs = performance.now()
  let [requestId, status, text, whole] = ['', 0, '', false]
  try {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: authorized(keyOf(account)),
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }),
      ...(signal === undefined ? {} : { signal }),
    })
    requestId = reply.headers.get('x-request-id') ?? ''
    status = reply.status
    const decoder = new TextDecoder()
    for await (const bytes of reply.body ?? []) {
      text += decoder.decode(bytes, { stream: true })
      onBytes?.(status)
    }
    whole = body['stream'] !== true || status !== 200 || text.endsWith('data: [DONE]\n\n')
  } catch {
    // Cut by the test's fault; `whole` says so.
  }
  return { requestId, status, text, whole, startedMs, elapsedMs: performance.now() - startedMs }
}

/** The code of an error reply. */
export function codeOf({ text }: Outcome): string | null {
  const body = JSON.parse(text) as { readonly error?: { readonly code: string } }
  return body.error?.code ?? null
}

/** The cost of a prompt of `Hello` and this many tokens of reply. */
export function costNano(promptTokens: number, outputTokens: number): bigint {
  return BigInt(promptTokens) * tokenNano.input + BigInt(outputTokens) * tokenNano.output
}
