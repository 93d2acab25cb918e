// Sends finished requests to an OpenTelemetry collector as spans, in batches.

import {
  spansOf,
  type Traced,
  type Traces,
  tracedOf,
  traceIdOfRow,
} from '../relay/request-spans.ts'
import type { Collector } from './otlp-collector.ts'

/** Most requests that wait; further ones are dropped and counted. */
const mostWaiting = 4_096
const mostInBatch = 256
const gatherMs = 1_000

export class SpanQueue {
  readonly counts = { sent: 0, dropped: 0 }
  readonly #collector: Collector
  readonly #ratio: number
  readonly #waiting: Traced[] = []
  #timer: Timer | null = null
  #sending: Promise<void> | null = null

  /** `ratio`: share of requests to sample whose clients send no trace context. */
  constructor(collector: Collector, ratio: number) {
    this.#collector = collector
    this.#ratio = ratio
  }

  /** Returns the trace id; null where the request is not sampled. */
  note(...[settlement, row]: Parameters<Traces['ended']>): string | null {
    const { traceparent } = settlement.request.caller
    if (!this.#samples(traceparent)) return null
    if (this.#waiting.length >= mostWaiting) this.counts.dropped++
    else this.#waiting.push(tracedOf(settlement, row))
    this.#timer ??= setTimeout(() => {
      // Where a batch is still being sent, nothing else would allow the next timer.
      this.#timer = null
      void this.flush()
    }, gatherMs).unref()
    if (this.#waiting.length === mostInBatch) void this.flush()
    return traceIdOfRow(row)
  }

  flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  /** The client's trace context decides; without one, chance does. */
  #samples(traceparent: string | null): boolean {
    if (traceparent === null) return Math.random() < this.#ratio
    return (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1
  }

  async #sendAll(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const { resource, scope } = this.#collector
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostInBatch)
      const scopeSpans = [{ scope, spans: batch.flatMap(spansOf) }]
      const isTaken = await this.#collector.send('traces', {
        resourceSpans: [{ resource, scopeSpans }],
      })
      this.counts[isTaken ? 'sent' : 'dropped'] += batch.length
    }
  }
}
