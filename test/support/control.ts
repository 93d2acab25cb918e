// The control API on a separate store, called as any person a test names: without sign-in, without a listener.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditLedger } from '../../src/admin/audit.ts'
import { withChannels } from '../../src/admin/channels.ts'
import { loadConfiguration } from '../../src/admin/configuration.ts'
import { offerOf } from '../../src/admin/offer.ts'
import { settingsInForce } from '../../src/config/run-time.ts'
import type { Config } from '../../src/config/types.ts'
import { createCallers } from '../../src/http/callers.ts'
import { createControl } from '../../src/http/control/app.ts'
import type { ControlRoute } from '../../src/http/control/route.ts'
import { controlRoutes } from '../../src/http/control/routes.ts'
import type { Running } from '../../src/http/control/running.ts'
import type { ControlServices } from '../../src/http/control/services.ts'
import type { ControlPrincipal, Role } from '../../src/identity/principal.ts'
import { createSecretBox } from '../../src/identity/secret-box.ts'
import { createLocalLimiter } from '../../src/limits/local.ts'
import { createPayments } from '../../src/payments/payments.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'

export const origin = 'http://127.0.0.1:8787'

/** A person of this account. */
export function person(account: string, role: Role = 'user'): ControlPrincipal {
  return { kind: 'session', sessionId: `session-${account}`, account, role, signedInAt: Date.now() }
}

/** A management key. */
export function manager(
  account: string | null,
  scopes: readonly ('read' | 'write')[],
  expiresAt: number | null = null,
): ControlPrincipal {
  return { kind: 'management', keyId: 'mk_test', keyName: 'test', account, scopes, expiresAt }
}

interface Options {
  /** An empty schema; left out: SQLite. */
  readonly databaseUrl?: string | undefined
  readonly routes?: readonly ControlRoute[]
  readonly services?: Partial<ControlServices>
  readonly running?: Partial<Running>
}

interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ControlStage {
  readonly store: Store
  readonly crashes: unknown[]
  /** The reply to a request, unchanged. `as` null: nobody. */
  reply(as: ControlPrincipal | null, path: string, init: RequestInit): Promise<Response>
  /** `as` null: nobody. */
  send(
    as: ControlPrincipal | null,
    method: string,
    path: string,
    sent?: Sent,
  ): Promise<{
    readonly status: number
    readonly headers: Headers
    readonly json: ReturnType<typeof JSON.parse>
  }>
  /** A streamed reply, as it comes. */
  open(path: string, headers: Readonly<Record<string, string>>): Promise<OpenReply>
  close(): Promise<void>
}

export interface OpenReply {
  /** Everything received, once this text has come. */
  until(text: string): Promise<string>
  /** Resolves when the other side ends it. */
  ended(): Promise<void>
  close(): Promise<void>
}

function openReply(reply: Response): OpenReply {
  const reader = (reply.body ?? new Blob().stream()).getReader()
  const decoder = new TextDecoder()
  let come = ''
  const read = async () => {
    const { done, value } = await reader.read()
    if (!done) come += decoder.decode(value, { stream: true })
    return !done
  }
  return {
    async until(text) {
      while (!come.includes(text)) if (!(await read())) throw new Error(`ended with ${come}`)
      return come
    },
    async ended() {
      while (await read());
    },
    close: () => reader.cancel(),
  }
}

function runningOn(config: Config, store: Store): Running {
  const box = createSecretBox(new Uint8Array(32), 'stored configuration')
  return {
    settings: () => settingsInForce(config, {}),
    config: () => withChannels(config, {}),
    stored: { declared: config, box },
    channels: {
      condition: () => ({ state: 0, reason: null, sinceMs: null, inFlight: 0 }),
      limitState: ({ limits = {} }) => createLocalLimiter().state({ id: 'channel', limits }, 0),
    },
    reading: () => ({
      process: 'own',
      startedAt: Date.now(),
      running: 0,
      unsettled: 0,
      oldestUnsettledMs: 0,
      closed: null,
      overhead: { auth: [], route: [], settle: [] },
      channels: [],
      warnings: [],
    }),
    arrivals: async () => [],
    audit: () => auditLedger({ store }),
    offer: async () => offerOf(withChannels(config, {}), await store.prices.all()),
  }
}

/** No provider is configured. */
function ordersOn(config: Config, store: Store, crashes: unknown[]): ControlServices['orders'] {
  const { payments: settings, currency } = config
  const parts = {
    settings,
    mode: 'live',
    onProblem: (error: unknown) => crashes.push(error),
  } as const
  const payments = createPayments({
    ...parts,
    store,
    currency,
    send: async () => {
      throw new Error('no provider is asked')
    },
  })
  return { desk: async () => ({ ...parts, address: origin, payments }) }
}

function boxes() {
  const box = (purpose: string) => createSecretBox(new Uint8Array(32), purpose)
  return {
    webhookBox: box('alert webhooks'),
    callbackBox: box('payment callback tests'),
    shareBox: box('shared requests'),
    replyBox: box('control replies'),
  }
}

export async function controlStage(options: Options = {}): Promise<ControlStage> {
  const { routes, services, running, databaseUrl = null } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-control-'))
  const store = await openStore({ dataDir, databaseUrl })
  const config = await loadConfiguration({ flags: { data: dataDir }, env: {} })
  const crashes: unknown[] = []
  let principal: ControlPrincipal | null = null
  const control = createControl(
    {
      store,
      config: () => config,
      callers: () => createCallers(config.server),
      running: { ...runningOn(config, store), ...running },
      sessions: {
        sessionOf: async () => (principal?.kind === 'session' ? principal : null),
        handler: async () => new Response('auth'),
      },
      managementKey: async () => (principal?.kind === 'management' ? principal : null),
      modelKey: () => null,
      models: () => [],
      ...boxes(),
      mail: { server: async () => null },
      orders: ordersOn(config, store, crashes),
      load: { draining: false },
      onCrash: (error) => crashes.push(error),
      refresh: async () => undefined,
      version: 'test',
      ...services,
    },
    routes ?? controlRoutes,
  )
  const replyTo: ControlStage['reply'] = (as, path, init) => {
    principal = as
    const request = new Request(`${origin}${path}`, init)
    if (as?.kind === 'management' && !request.headers.has('authorization'))
      request.headers.set('authorization', 'Bearer sk-tgm-test')
    return control.handle(request, '127.0.0.1')
  }
  return {
    store,
    crashes,
    reply: replyTo,
    async send(as, method, path, { body, headers = {} } = {}) {
      const reply = await replyTo(as, path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && {
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      })
      const text = await reply.text()
      const isJson = /[/+]json\b/.test(reply.headers.get('content-type') ?? '')
      return {
        status: reply.status,
        headers: reply.headers,
        json: isJson ? JSON.parse(text) : text,
      }
    },
    async open(path, headers) {
      const request = new Request(`${origin}${path}`, { headers })
      return openReply(await control.handle(request, '127.0.0.1'))
    },
    async close() {
      await store.close()
      rmSync(dataDir, { recursive: true })
    },
  }
}
