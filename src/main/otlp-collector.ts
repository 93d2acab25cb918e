// An OpenTelemetry collector that takes OTLP over HTTP in JSON: its address, the sender's attributes, and its refusals.

import { hostname } from 'node:os'
import type { Config } from '../config/types.ts'
import type { Log } from '../telemetry/log.ts'
import { ask } from '../upstream/ask.ts'
import type { Dialer } from '../upstream/dial.ts'

export interface CollectorOptions {
  /** The collector's base address. */
  readonly endpoint: string
  readonly settings: Config['telemetry']['otlp']
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
  /** This process among several serving ones; null: it is the only one. */
  readonly worker: { readonly slot: number } | null
  readonly dialer: Dialer
  readonly log: Log
}

export interface Collector {
  /** Attributes of the sender, in every message. */
  readonly resource: object
  readonly scope: { readonly name: string; readonly version: string }
  /** Whether the collector accepted it; if not, the log tells why, once a minute. Never rejects. */
  send(kind: 'traces' | 'metrics', message: object): Promise<boolean>
}

const answerWithinMs = 5_000
const maxReplyBytes = 65_536
const warnEveryMs = 60_000

export function collectorAt(options: CollectorOptions): Collector {
  const { endpoint, settings, env, version, worker, dialer, log } = options
  const headers = {
    ...inLowerCase(standardPairs(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '')),
    ...settings.headers,
    'content-type': 'application/json',
  }
  const { 'service.name': named = 'tollgate', ...given } = standardPairs(
    env['OTEL_RESOURCE_ATTRIBUTES'] ?? '',
  )
  const about = {
    ...given,
    'service.name': env['OTEL_SERVICE_NAME'] ?? named,
    'service.version': version,
    // Metrics of several processes with the same id would be taken for those of one.
    'service.instance.id': worker === null ? hostname() : `${hostname()}/${worker.slot}`,
    'host.name': hostname(),
  }
  const bounds = { dialer, maxBytes: maxReplyBytes, timeoutMs: answerWithinMs }
  const warnedMs = { traces: Number.NEGATIVE_INFINITY, metrics: Number.NEGATIVE_INFINITY }

  /** null: it was accepted. */
  async function refusal(kind: string, message: object): Promise<string | null> {
    const url = `${endpoint.replace(/\/$/, '')}/v1/${kind}`
    try {
      const call = { method: 'POST', url, headers, body: JSON.stringify(message) } as const
      const { status } = await ask(bounds, call)
      return status >= 200 && status < 300 ? null : `it answered ${status}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  return {
    resource: { attributes: attributesOf(Object.entries(about)) },
    scope: { name: 'tollgate', version },
    async send(kind, message) {
      const reason = await refusal(kind, message)
      if (reason !== null && performance.now() - warnedMs[kind] >= warnEveryMs) {
        warnedMs[kind] = performance.now()
        const what = `the OpenTelemetry collector did not take ${kind}; requests are served on`
        log.warn({ reason }, what)
      }
      return reason === null
    },
  }
}

/** Text attributes in OTLP's JSON form. */
export function attributesOf(pairs: readonly (readonly [key: string, value: string])[]) {
  return pairs.map(([key, stringValue]) => ({ key, value: { stringValue } }))
}

/** `name=value,name=value` with percent-encoded values: the OpenTelemetry specification of headers and attributes. */
function standardPairs(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap((each) => {
    const at = each.indexOf('=')
    return at < 1 ? [] : [[each.slice(0, at).trim(), unescaped(each.slice(at + 1))]]
  })
  return Object.fromEntries(pairs)
}

function inLowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const pairs = Object.entries(headers)
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]))
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value.trim())
  } catch {
    return value.trim()
  }
}
