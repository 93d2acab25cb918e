// Builds what a request passes through from one configuration; a changed one replaces it as a whole.

import { lanesOf } from '../config/channel-keys.ts'
import type { Config } from '../config/types.ts'
import { createCallers } from '../http/callers.ts'
import { diagnose } from '../http/diagnosis.ts'
import type { Front, FrontObserver } from '../http/front.ts'
import { type Idempotency, idempotencyHook } from '../http/idempotency.ts'
import { limitHook } from '../http/limits.ts'
import { denialOf, refusalRow, replayedRow } from '../http/refusal.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { recogniseKey } from '../identity/recognise.ts'
import { anyoneOf } from '../operations/model-access.ts'
import { buildModelAccess } from '../operations/offering.ts'
import type { ClientRequest, CoreServices } from '../operations/operation.ts'
import { createChannels } from '../relay/channel.ts'
import { createObserver } from '../relay/observer.ts'
import type { RelayRooms } from '../relay/request.ts'
import { createSafeFetch } from '../safe-fetch/safe-fetch.ts'
import { isStoreAway } from '../store/away.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Log } from '../telemetry/log.ts'
import type { Gauge } from '../telemetry/registry.ts'
import { channelConfigs } from '../vendors/channel-configs.ts'
import { vendors } from '../vendors/registry.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { dialects } from '../wire/registry.ts'
import { buildAuthorizer } from './billing.ts'
import { historyHookOf } from './history.ts'
import type { ProcessParts } from './process.ts'
import { resultsFor } from './results.ts'
import { videosFor } from './videos.ts'

/** What is built from one configuration. */
export interface Serving {
  readonly config: Config
  /** Lanes of the channels that take requests: one for each key. */
  readonly channelIds: readonly string[]
  readonly front: Front
}

/** Most vendor replies that are read to their end after their clients left, and for how long. */
const mostDrains = 64
/** For files at addresses that users name. */
const safeFetchBounds = { maxBytes: 10_485_760, timeoutMs: 10_000 }
const drainLimitMs = 30_000

export function buildServing(config: Config, parts: ProcessParts): Serving {
  const configured = channelConfigs(config, process.env, vendors)
  const channels = createChannels(configured, vendors)
  const relay = relayOf(config, parts, channels)
  const modelAccess = buildModelAccess(config, configured, () => parts.prices.book)
  return {
    config,
    channelIds: configured
      .filter(({ disabled }) => !disabled)
      .flatMap((channel) => lanesOf(channel).map(({ lane }) => lane)),
    front: frontOf(config, parts, { relay, modelAccess }),
  }
}

function frontOf(config: Config, parts: ProcessParts, core: CoreServices): Front {
  const { server, billing } = config
  const { keyring, keyUses, limiter, load, metrics, ledger, log, spools, deadlines } = parts
  const { relay, modelAccess } = core
  const authorizer = buildAuthorizer(config, parts)
  const draining = () => load.draining
  return {
    server,
    load,
    callers: createCallers(server),
    keyring,
    keyUses,
    bodies: { server, uploads: config.uploads, load, spools, deadlines },
    authorizer,
    hooks: [
      limitHook({
        limiter,
        scopes: modelAccess.scopes,
        // Only the scope's kind: ids as label values would be unbounded.
        refused: ({ scope, kind }) =>
          metrics.rateLimited.with(scope.split(':', 1)[0] ?? '', kind).inc(),
      }),
      idempotencyHook(keysFor(billing.idempotencyHours, ledger, log)),
      historyHookOf(config, parts.history),
    ],
    services: {
      ...core,
      responses: responsesFor(config, parts, (id) => relay.channels.get(id)?.vendor),
      realtime: { settings: config.realtime, authorizer, limiter, keyring, draining },
      videos: videosFor(config, parts, relay),
      me: { store: parts.store, currency: config.currency, prices: () => parts.prices.book },
      files: parts.diskFiles,
    },
    observer: { ...observerOf(parts, relay.observer), turnedAway: diagnosing(parts, modelAccess) },
  }
}

function observerOf(
  { metrics, log, ledger, denials }: Pick<ProcessParts, 'metrics' | 'log' | 'ledger' | 'denials'>,
  observer: RelayRooms['observer'],
): Omit<FrontObserver, 'turnedAway'> {
  const inFlight = new Map<string, Gauge>()
  const inFlightAt = (path: string): Gauge => {
    const known = inFlight.get(path)
    if (known !== undefined) return known
    const made = metrics.requestsInFlight.with(path)
    inFlight.set(path, made)
    return made
  }
  const record = (row: UsageRow | null) => {
    if (row !== null) ledger.finish(null, { row, capNano: null, idempotency: null }, null)
  }
  const failed = (err: unknown, fields: { readonly request_id?: string }) => {
    if (isStoreAway(err)) log.warn({ err, ...fields }, 'a request needed the store, which is away')
    else log.error({ err, ...fields }, 'internal error: a request failed')
  }
  return {
    overhead: { auth: metrics.overhead.with('auth'), route: metrics.overhead.with('route') },
    underWay({ client }, change) {
      inFlightAt(client.path).add(change)
    },
    refused(refusal) {
      const { cause, requestId, dialect, status, durationMs, error, caller } = refusal
      if (refusal.principal === null && error.code === 'invalid_api_key')
        denials.note(denialOf(error, requestId, dialect.client.path, caller.address))
      if (error.code === 'insufficient_quota') metrics.balanceRejections.inc()
      if (cause !== null) failed(cause, { request_id: requestId })
      if (refusal.free) return
      const row = refusalRow(refusal)
      if (refusal.isKeyed || !ledger.isBehind) record(row)
      observer.unrelayed(row, dialect, status, durationMs)
    },
    denied: (denial) => denials.note(denial),
    crashed: (error) => failed(error, {}),
    replayed(repeat) {
      const { dialect, status, durationMs } = repeat
      const row = replayedRow(repeat)
      record(row)
      observer.unrelayed(row, dialect, status, durationMs)
    },
  }
}

/** Pages that a browser opens, such as an icon, are no mistakes of an API client. */
const isPage = ({ headers }: ClientRequest) =>
  (headers.get('sec-fetch-dest') ?? 'empty') !== 'empty'

function diagnosing(
  { doctor, keyring }: Pick<ProcessParts, 'doctor' | 'keyring'>,
  modelAccess: CoreServices['modelAccess'],
): FrontObserver['turnedAway'] {
  const rooms = {
    recognise: (secret: string) => recogniseKey(keyring.content, secret, Date.now()),
    models: (principal: KeyPrincipal) => modelAccess.models(principal).map(({ id }) => id),
    groupHas: (group: string, model: string) => modelAccess.whyNot(anyoneOf(group), model) === null,
  }
  return (away) => {
    if (!isPage(away.request)) doctor.note(away.caller.address, () => diagnose(away, rooms))
  }
}

function relayOf(
  config: Config,
  parts: ProcessParts,
  channels: RelayRooms['channels'],
): RelayRooms {
  const { health, dialer, deadlines, limiter } = parts
  return {
    health,
    dialer,
    deadlines,
    limiter,
    channels,
    dialects,
    timeouts: config.timeouts,
    retry: config.retry,
    client: config.server,
    safeFetch: createSafeFetch({ dialer, ...safeFetchBounds }),
    results: resultsFor(config, parts),
    drains: { running: 0, most: mostDrains, limitMs: drainLimitMs },
    observer: createObserver(parts),
  }
}

function responsesFor(
  { responses, server }: Config,
  { kept }: Pick<ProcessParts, 'kept'>,
  vendorOf: (channelId: string) => Vendor | undefined,
): Front['services']['responses'] {
  return {
    ...kept,
    keepDays: responses.keepDays,
    maxBodyBytes: server.maxBodyBytes,
    heartbeatMs: server.heartbeatMs,
    dialect: dialects['openai-responses'],
    vendorOf,
  }
}

const hourMs = 3_600_000

/** Logs a database that is away once when it begins and once when it ends, not for each request. */
function keysFor(hours: number, ledger: ProcessParts['ledger'], log: Log): Idempotency {
  let isAway = false
  const failed = (err: unknown, requestId: string) => {
    if (isAway) return
    isAway = true
    log.error(
      { err, request_id: requestId },
      'Idempotency-Keys cannot be looked up or freed: requests that have one are refused',
    )
  }
  const answered = () => {
    if (isAway) log.info({}, 'Idempotency-Keys can be looked up again')
    isAway = false
  }
  return {
    async begin(entry) {
      const nowMs = Date.now()
      try {
        const found = await ledger.changes.begin({
          ...entry,
          nowMs,
          expiresAt: nowMs + hours * hourMs,
        })
        answered()
        return found
      } catch (error) {
        failed(error, entry.requestId)
        throw error
      }
    },
    forget(account, key, requestId) {
      // A key that is not freed here becomes free when the refused request is recorded.
      ledger.changes.forget(account, key, requestId).catch((error: unknown) => {
        failed(error, requestId)
      })
    },
  }
}
