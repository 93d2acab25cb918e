// Gateways that many tests share, each test with separate channels and a separate key: a process is started once for
// all tests with the same settings.

import { expect } from 'bun:test'
import { eventually } from './clients.ts'
import { type Gateway, type PostOptions, startGateway, testKey } from './gateway.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** Keys of the channels: no client and no log may contain them. */
export const secrets = ['sk-first-vendor-secret-4f1c', 'sk-second-vendor-secret-9b2e']

/** Stages of one process; when they are used up, another process is started. */
const stagesEach = 24

type Section = Readonly<Record<string, unknown>>

export interface StageOptions {
  /** Only the first channel, so that there is no fallback. */
  readonly alone?: boolean
  /** In place of the first upstream's address. */
  readonly firstUrl?: string
  readonly timeouts?: Section
  readonly server?: Section
  readonly retry?: Section
  readonly env?: Readonly<Record<string, string>>
}

/** What one test sees of a gateway: its own requests, and the log lines that name its channels. */
export type StageGateway = Pick<
  Gateway,
  'url' | 'key' | 'pid' | 'stderr' | 'logged' | 'usage' | 'row' | 'post'
>

export interface Stage extends AsyncDisposable {
  readonly gateway: StageGateway
  /** Always called first. */
  readonly first: Upstream
  /** Called only if the first cannot serve. */
  readonly second: Upstream
  /** The whole log of the process. */
  log(): string
}

interface Shared {
  readonly gateway: Gateway
  readonly upstreams: readonly Upstream[]
  used: number
}

export function expectCleanLog(log: string): void {
  for (const secret of [...secrets, testKey]) expect(log).not.toContain(secret)
  expect(log).not.toContain('internal error:')
}

export class SharedGateways {
  /** By their settings. */
  readonly #open = new Map<string, Shared>()
  readonly #all: Shared[] = []

  async lend(options: StageOptions): Promise<Stage> {
    const { alone = false, ...settings } = options
    const name = JSON.stringify(settings)
    let shared = this.#open.get(name)
    if (shared === undefined || shared.used === stagesEach) {
      shared = await start(settings)
      this.#open.set(name, shared)
      this.#all.push(shared)
    }
    const number = shared.used++
    const [first, second] = shared.upstreams.slice(2 * number)
    if (first === undefined || second === undefined) throw new Error('a stage without vendors')
    const { gateway } = shared
    return {
      gateway: stageGateway(gateway, number, keyOf(number, alone)),
      first,
      second,
      log: () => gateway.stderr,
      async [Symbol.asyncDispose]() {
        await Promise.all([first.close(), second.close()])
      },
    }
  }

  /** Checks the whole log as each stage checks its own part. */
  async stop(): Promise<void> {
    this.#open.clear()
    for (const { gateway, upstreams } of this.#all.splice(0)) {
      await gateway.stop()
      await Promise.all(upstreams.map((upstream) => upstream.close()))
      expectCleanLog(gateway.stderr)
    }
  }
}

async function start({ firstUrl, env, ...sections }: StageOptions): Promise<Shared> {
  const upstreams = await Promise.all(Array.from({ length: 2 * stagesEach }, () => startUpstream()))
  const stages = Array.from({ length: stagesEach }, (_, number) => number)
  const channel = { vendor: 'openai-compatible', models: ['m*'] }
  const config = {
    ...sections,
    groups: Object.fromEntries(
      stages.flatMap((n) => [
        [`both-${n}`, { models: ['*'] }],
        [`alone-${n}`, { models: ['*'] }],
      ]),
    ),
    channels: stages.flatMap((n) => [
      {
        ...channel,
        id: `first-${n}`,
        baseUrl: firstUrl ?? upstreams[2 * n]?.url,
        key: secrets[0],
        groups: [`both-${n}`, `alone-${n}`],
      },
      // Weight 0: only if no other is left.
      {
        ...channel,
        id: `second-${n}`,
        baseUrl: upstreams[2 * n + 1]?.url,
        key: secrets[1],
        groups: [`both-${n}`],
        weight: 0,
      },
    ]),
    keys: stages.flatMap((n) => [
      { name: `both-${n}`, group: `both-${n}`, secret: keyOf(n, false) },
      { name: `alone-${n}`, group: `alone-${n}`, secret: keyOf(n, true) },
    ]),
  }
  return { gateway: await startGateway({ config, ...(env && { env }) }), upstreams, used: 0 }
}

function keyOf(number: number, alone: boolean): string {
  return `${testKey}-${alone ? 'alone' : 'both'}-${number}`
}

function stageGateway(gateway: Gateway, number: number, key: string): StageGateway {
  const own = new RegExp(`"(first|second)-${number}"`)
  const lines = () =>
    gateway.stderr
      .split('\n')
      .filter((line) => own.test(line))
      .join('\n')
  const authorization = { authorization: `Bearer ${key}` }
  return {
    url: gateway.url,
    key,
    get stderr() {
      return lines()
    },
    pid: gateway.pid,
    async logged(text) {
      await eventually(async () => lines().includes(text) || undefined)
    },
    async usage() {
      const rows = await gateway.usage()
      return rows.filter(({ keyName }) => key.endsWith(`-${keyName}`)).map(named)
    },
    row: async (requestId) => named(await gateway.row(requestId)),
    post: (path, body, options: PostOptions = {}) =>
      gateway.post(path, body, { ...options, headers: { ...authorization, ...options.headers } }),
  }
}

/** A test knows its channels as `first` and `second`. */
function named<Row extends { readonly channel: string | null }>(row: Row): Row {
  return { ...row, channel: row.channel?.replace(/-\d+$/, '') ?? null }
}
