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

/** Empty where no PostgreSQL was given. */
export const postgresCases: readonly EngineCase[] =
  testDatabaseUrl === null ? [] : [{ engine: 'postgres', databaseUrl: testDatabaseUrl }]

/** Empty where a test may not start and end servers of its own. */
export const ownPostgresCases: readonly EngineCase[] =
  Bun.env['TEST_INITDB'] === undefined ? [] : postgresCases

export const engineCases: readonly EngineCase[] = [
  { engine: 'sqlite', databaseUrl: null },
  ...postgresCases,
]

export interface StartOptions {
  /** Nodes have a data directory each; 0 unless given. */
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
  /** Resolves when the server has said that it serves. */
  start(options?: StartOptions): Promise<ServerProcess>
  /** Runs the command line on the books; gives its output as JSON. */
  command(...words: readonly string[]): Promise<ReturnType<typeof JSON.parse>>
  /** Ends all that was started, and removes everything. */
  remove(): Promise<void>
}

export interface DeploymentOptions {
  readonly databaseUrl: string | null
  /** Of the first node; in a temporary directory unless given. */
  readonly dataDir?: string
  /** What gateways connect by; the same database unless given. */
  readonly through?: (databaseUrl: string) => string
  /** Credits of accounts, decimals; each has a key `SECRET-ACCOUNT`. */
  readonly credits: Readonly<Record<string, string>>
  /** More of the configuration. */
  readonly config?: Section
  /** This process does not open the books by itself: on SQLite a connection of its own keeps the files in order. */
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

/** What `tollgate audit` says: it finds nothing, nothing is set aside, and no wallet is below zero. */
export async function expectCleanAudit(deployment: Deployment): Promise<void> {
  const { ok, findings, setAside } = await auditLedger(deployment)
  expect({ ok, findings, setAside }).toEqual({ ok: true, findings: [], setAside: 0 })
}

/**
 * What a wallet has is its credit less what its usage rows say it paid; looked at again for a while, since requests may
 * be settled between the one look and the other. Gives the rows.
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

/** What came of one request: `whole` where the reply ended as it should. */
export interface Outcome {
  readonly requestId: string
  readonly status: number
  readonly text: string
  readonly whole: boolean
  readonly startedMs: number
  readonly elapsedMs: number
}

/**
 * Sends a chat and reads the reply to its end, or until `signal` says to leave. A broken connection is an outcome.
 * `onBytes` is told of each piece of the reply, by its status.
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
    // Cut by whatever the test did; `whole` says so.
  }
  return { requestId, status, text, whole, startedMs, elapsedMs: performance.now() - startedMs }
}

/** The code of an error reply. */
export function codeOf({ text }: Outcome): string | null {
  const body = JSON.parse(text) as { readonly error?: { readonly code: string } }
  return body.error?.code ?? null
}

/** What a prompt of `Hello` and so many tokens of reply cost. */
export function costNano(promptTokens: number, outputTokens: number): bigint {
  return BigInt(promptTokens) * tokenNano.input + BigInt(outputTokens) * tokenNano.output
}
