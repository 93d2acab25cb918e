// Builds the rooms a request passes through from one configuration; replaced whole when that changes.

import type { Config } from '../config/types.ts'
import { createCallers } from '../http/callers.ts'
import type { FrontRooms } from '../http/front-rooms.ts'
import type { Idempotency } from '../http/idempotency.ts'
import { denialOf, refusalRow, replayedRow } from '../http/refusal.ts'
import { buildModelAccess } from '../operations/offering.ts'
import { channelConfigs, createChannels } from '../relay/channels.ts'
import { createObserver } from '../relay/observer.ts'
import type { RelayRooms } from '../relay/request.ts'
import { createSafeFetch } from '../safe-fetch/safe-fetch.ts'
import type { UsageRow } from '../store/usage-row.ts'
import type { Log } from '../telemetry/log.ts'
import { vendors } from '../vendors/registry.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { dialects } from '../wire/dialects.ts'
import { buildAuthorizer } from './billing.ts'
import type { Lasting } from './lasting.ts'
import { resultsFor } from './results.ts'
import { videoRooms } from './videos.ts'

export interface ServingRooms extends FrontRooms {
  readonly config: Config
  /** Of the channels that take requests. */
  readonly channelIds: readonly string[]
}

/** Requests whose clients left, heard to their end at once at most, and for how long. */
const mostDrains = 64
/** What is fetched at an address that a user named. */
const safeFetchBounds = { maxBytes: 10_485_760, timeoutMs: 10_000 }
const drainLimitMs = 30_000

export function buildRooms(config: Config, lasting: Lasting): ServingRooms {
  const { server, billing } = config
  const { metrics, log, ledger, denials } = lasting
  const configured = channelConfigs(config, process.env, vendors)
  const channels = createChannels(configured, vendors)
  const observer = createObserver(lasting)
  const underWay = new Map(
    Object.values(dialects).flatMap(({ id, client }) =>
      client === undefined ? [] : [[id, metrics.requestsInFlight.with(client.path)]],
    ),
  )
  const unrelayed = (row: UsageRow | null, path: string, status: number, durationMs: number) => {
    if (row !== null) ledger.finish(null, { row, capNano: null, idempotency: null }, null)
    observer.unrelayed(row, path, status, durationMs)
  }
  const relay = relayOf(config, lasting, channels, observer)
  return {
    config,
    channelIds: configured.filter(({ disabled }) => !disabled).map(({ id }) => id),
    server,
    uploads: config.uploads,
    spools: lasting.spools,
    keyring: lasting.keyring,
    callers: createCallers(server),
    limiter: lasting.limiter,
    load: lasting.load,
    overhead: { auth: metrics.overhead.with('auth'), route: metrics.overhead.with('route') },
    modelAccess: buildModelAccess(config, configured, () => lasting.prices.book),
    authorizer: buildAuthorizer(config, lasting),
    idempotency: keysFor(billing.idempotencyHours, ledger, log),
    me: { store: lasting.store, currency: config.currency, prices: () => lasting.prices.book },
    responses: responsesFor(config, lasting, (channelId) => channels.get(channelId)?.vendor),
    realtime: config.realtime,
    relay,
    videos: videoRooms(config, lasting, relay),
    files: lasting.diskFiles,
    underWay(dialect, change) {
      underWay.get(dialect.id)?.add(change)
    },
    limited({ scope, kind }) {
      // The scope's kind only: an id would be a label without bound.
      metrics.rateLimited.with(scope.split(':', 1)[0] ?? '', kind).inc()
    },
    refused(refusal) {
      const { cause, requestId, dialect, status, durationMs, error, caller } = refusal
      if (refusal.principal === null && error.code === 'invalid_api_key')
        denials.note(denialOf(error, requestId, dialect.client.path, caller.address))
      if (cause !== null)
        log.error({ err: cause, request_id: requestId }, 'internal error: a request failed')
      unrelayed(refusalRow(refusal), dialect.client.path, status, durationMs)
    },
    denied: (denial) => denials.note(denial),
    replayed(repeat) {
      const { dialect, status, durationMs } = repeat
      unrelayed(replayedRow(repeat), dialect.client.path, status, durationMs)
    },
  }
}

function relayOf(
  config: Config,
  lasting: Lasting,
  channels: RelayRooms['channels'],
  observer: RelayRooms['observer'],
): RelayRooms {
  const { server } = config
  return {
    ...lasting,
    channels,
    dialects,
    timeouts: config.timeouts,
    retry: config.retry,
    heartbeatMs: server.heartbeatMs,
    commitAfterMs: server.commitAfterMs,
    writeStallMs: server.writeStallMs,
    safeFetch: createSafeFetch({ dialer: lasting.dialer, ...safeFetchBounds }),
    results: resultsFor(config, lasting),
    drains: { running: 0, most: mostDrains, limitMs: drainLimitMs },
    random: Math.random,
    observer,
  }
}

function responsesFor(
  { responses, server }: Config,
  { kept }: Lasting,
  vendorOf: (channelId: string) => Vendor | undefined,
): ServingRooms['responses'] {
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

function keysFor(hours: number, ledger: Lasting['ledger'], log: Log): Idempotency {
  return {
    async begin(entry) {
      const nowMs = Date.now()
      try {
        return await ledger.begin({ ...entry, nowMs, expiresAt: nowMs + hours * hourMs })
      } catch (error) {
        log.error(
          { err: error, request_id: entry.requestId },
          'an Idempotency-Key could not be looked up: its request is refused',
        )
        throw error
      }
    },
    forget(account, key, requestId) {
      ledger.forget(account, key, requestId).catch((error: unknown) => {
        log.warn(
          { err: error, request_id: requestId },
          'an Idempotency-Key could not be freed: it stays taken until it expires',
        )
      })
    },
  }
}
