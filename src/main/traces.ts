// Sends requests that have ended to an OpenTelemetry collector, by OTLP over HTTP in JSON. Loaded only where one is named.

import { hostname } from 'node:os'
import type { Config } from '../config/types.ts'
import {
  type Span,
  spansOf,
  type Traced,
  type Traces,
  tracedOf,
  traceIdOfRow,
} from '../relay/request-spans.ts'
import type { Log } from '../telemetry/log.ts'
import { ask } from '../upstream/ask.ts'
import type { Dialer } from '../upstream/dial.ts'

export interface TracesOptions {
  /** The collector's base address. */
  readonly endpoint: string
  readonly settings: Config['telemetry']['otlp']
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
  readonly dialer: Dialer
  readonly log: Log
}

/** Requests that wait at most; further ones are left out and counted. */
const mostWaiting = 4_096
const mostInBatch = 256
const gatherMs = 1_000
const answerWithinMs = 5_000
const maxReplyBytes = 65_536
const warnEveryMs = 60_000

export function openTraces(options: TracesOptions): Traces {
  const { settings, env } = options
  return new SpanQueue(options, Number(settings.ratio ?? env['OTEL_TRACES_SAMPLER_ARG'] ?? 1))
}

class SpanQueue implements Traces {
  readonly counts = { sent: 0, dropped: 0 }
  readonly #options: TracesOptions
  readonly #ratio: number
  readonly #call: { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  readonly #resource: object
  readonly #waiting: Traced[] = []
  #timer: Timer | null = null
  #sending: Promise<void> | null = null
  #warnedMs = Number.NEGATIVE_INFINITY

  constructor(options: TracesOptions, ratio: number) {
    const { endpoint, settings, env, version } = options
    this.#options = options
    this.#ratio = ratio
    this.#call = {
      url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
      headers: {
        ...standardHeaders(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''),
        ...settings.headers,
        'content-type': 'application/json',
      },
    }
    const about = {
      'service.name': env['OTEL_SERVICE_NAME'] ?? 'tollgate',
      'service.version': version,
      'host.name': hostname(),
    }
    const attributes = Object.entries(about).map(([key, stringValue]) => ({
      key,
      value: { stringValue },
    }))
    this.#resource = { attributes }
  }

  ended(...[settlement, row]: Parameters<Traces['ended']>): string | null {
    const { traceparent } = settlement.request.caller
    if (!this.#samples(traceparent)) return null
    if (this.#waiting.length >= mostWaiting) this.counts.dropped++
    else this.#waiting.push(tracedOf(settlement, row))
    this.#timer ??= setTimeout(() => void this.flush(), gatherMs).unref()
    if (this.#waiting.length === mostInBatch) void this.flush()
    return traceIdOfRow(row)
  }

  flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  /** A client that is traced has decided; else it is by chance. */
  #samples(traceparent: string | null): boolean {
    if (traceparent === null) return Math.random() < this.#ratio
    return (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1
  }

  async #sendAll(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInBatch)
      const trouble = await this.#send(batch.flatMap(spansOf))
      if (trouble === null) this.counts.sent += batch.length
      else this.#lost(batch.length, trouble)
    }
  }

  /** Why it was not taken; null: it was. */
  async #send(spans: readonly Span[]): Promise<string | null> {
    const { dialer, version } = this.#options
    const scopeSpans = [{ scope: { name: 'tollgate', version }, spans }]
    const body = JSON.stringify({ resourceSpans: [{ resource: this.#resource, scopeSpans }] })
    const bounds = { dialer, maxBytes: maxReplyBytes, timeoutMs: answerWithinMs }
    try {
      const { status } = await ask(bounds, { method: 'POST', ...this.#call, body })
      return status >= 200 && status < 300 ? null : `it answered ${status}`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  #lost(requests: number, reason: string): void {
    this.counts.dropped += requests
    const nowMs = performance.now()
    if (nowMs - this.#warnedMs < warnEveryMs) return
    this.#warnedMs = nowMs
    this.#options.log.warn(
      { reason, requests },
      'the OpenTelemetry collector did not take traces; requests are served on',
    )
  }
}

/** `name=value,name=value`, values with percent escapes: the OpenTelemetry specification of OTLP exporters. */
function standardHeaders(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap((each) => {
    const at = each.indexOf('=')
    return at < 1 ? [] : [[each.slice(0, at).trim().toLowerCase(), unescaped(each.slice(at + 1))]]
  })
  return Object.fromEntries(pairs)
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value.trim())
  } catch {
    return value.trim()
  }
}
