// Metrics of requests under the names of OpenTelemetry's generative AI conventions, the established or the newest.

import type { Settlement } from '../billing/settlement.ts'
import { promptTokens, replyTokens } from '../config/prices.ts'
import { operationOf } from '../relay/request-spans.ts'
import type { UsageRow } from '../store/usage-row.ts'
import {
  type Counter,
  createRegistry,
  type Family,
  type Histogram,
  openTelemetryNames,
} from '../telemetry/registry.ts'
import { providerName } from '../vendors/provider-name.ts'
import type { OtlpReading } from './otlp-metrics.ts'

/** Source: semantic conventions for generative AI, "Metrics": the advised bucket bounds, in seconds and in tokens. */
const durations = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power)
const tokenCounts = Array.from({ length: 14 }, (_, power) => 4 ** power)

const labels = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.system',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'error.type',
]

export class RequestMetrics {
  readonly #registry = createRegistry(openTelemetryNames)
  readonly #client: Family<Histogram>
  readonly #server: Family<Histogram>
  readonly #firstToken: Family<Histogram>
  readonly #countTokens: (row: UsageRow, values: readonly string[]) => void

  constructor(isNewest: boolean) {
    const clientName = isNewest
      ? 'gen_ai.client.inference.duration'
      : 'gen_ai.client.operation.duration'
    const seconds = (name: string, help: string) =>
      this.#registry.histogram({ name, help, labels }, durations)
    this.#client = seconds(clientName, 'From sending the last attempt to its end.')
    this.#server = seconds('gen_ai.server.request.duration', 'From the request to its end.')
    this.#firstToken = seconds(
      'gen_ai.server.time_to_first_token',
      'From the request to the first content of its reply.',
    )
    this.#countTokens = isNewest ? this.#tokenCounters() : this.#tokenHistogram()
  }

  /** `traceId`: set where the request's trace is sent to the collector. */
  note({ sentAfterMs }: Settlement, row: UsageRow, traceId: string | null): void {
    const provider = providerName(row.vendor) ?? ''
    const values = [
      operationOf(row),
      provider,
      provider,
      row.modelAsked,
      row.modelServed ?? '',
      row.errorCode ?? '',
    ]
    this.#server.with(...values).observe(row.durationMs / 1_000, traceId)
    if (row.ttftMs !== null) this.#firstToken.with(...values).observe(row.ttftMs / 1_000, traceId)
    if (row.vendor === null) return
    const seconds = Math.max(0, row.durationMs - Math.round(sentAfterMs ?? 0)) / 1_000
    this.#client.with(...values).observe(seconds, traceId)
    this.#countTokens(row, values)
  }

  readings(): readonly OtlpReading[] {
    return this.#registry.readings().map((reading) => ({
      ...reading,
      unit: reading.name.includes('token.usage') || reading.type === 'counter' ? '{token}' : 's',
    }))
  }

  #tokenHistogram() {
    const used = this.#registry.histogram(
      {
        name: 'gen_ai.client.token.usage',
        help: 'Tokens of requests.',
        labels: [...labels, 'gen_ai.token.type'],
      },
      tokenCounts,
    )
    return (row: UsageRow, values: readonly string[]) => {
      used.with(...values, 'input').observe(promptTokens(row))
      used.with(...values, 'output').observe(replyTokens(row))
    }
  }

  #tokenCounters() {
    const count = (kind: string, help: string): Family<Counter> =>
      this.#registry.counter({
        name: `gen_ai.client.inference.usage.${kind}`,
        help,
        labels: [...labels, 'gen_ai.token.modality'],
      })
    const input = count('input_tokens', 'Tokens of prompts, cached ones included.')
    const output = count('output_tokens', 'Tokens of replies, reasoning included.')
    const cacheRead = count('cache_read.input_tokens', 'Of prompts, read from a cache.')
    const cacheWrite = count('cache_write.input_tokens', 'Of prompts, written to a cache.')
    const reasoning = count('reasoning.output_tokens', 'Of replies, spent on reasoning.')
    return (row: UsageRow, values: readonly string[]) => {
      const { audioInput = 0, audioOutput = 0, imageInput = 0, imageOutput = 0 } = row
      const add = (to: Family<Counter>, modality: string, tokens: number) => {
        if (tokens > 0) to.with(...values, modality).inc(tokens)
      }
      add(input, 'text', promptTokens(row) - audioInput - imageInput)
      add(input, 'audio', audioInput)
      add(input, 'image', imageInput)
      add(output, 'text', replyTokens(row) - audioOutput - imageOutput)
      add(output, 'audio', audioOutput)
      add(output, 'image', imageOutput)
      add(cacheRead, 'text', row.cachedInput)
      add(cacheWrite, 'text', row.cacheWrite + (row.cacheWrite1h ?? 0))
      add(reasoning, 'text', row.reasoning)
    }
  }
}
