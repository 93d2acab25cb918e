// Sends traces of requests, and metrics once a minute, to an OpenTelemetry collector. Loaded only where one is
// configured.

import type { Traces } from '../relay/request-spans.ts'
import type { Registry } from '../telemetry/registry.ts'
import { type CollectorOptions, collectorAt } from './otlp-collector.ts'
import { MetricReader } from './otlp-metrics.ts'
import { RequestMetrics } from './request-metrics.ts'
import { SpanQueue } from './traces.ts'

export interface OpenTelemetryOptions extends CollectorOptions {
  /** The gateway's own metrics; called once they exist. */
  readonly registry: () => Registry
}

/** Each of the two can be turned off by OpenTelemetry's standard variables. */
export function openTelemetry(options: OpenTelemetryOptions): Traces {
  const { env, settings, registry } = options
  const collector = collectorAt(options)
  const spans =
    env['OTEL_TRACES_EXPORTER'] === 'none'
      ? null
      : new SpanQueue(collector, settings.ratio ?? numberIn(env['OTEL_TRACES_SAMPLER_ARG']) ?? 1)
  const metrics =
    env['OTEL_METRICS_EXPORTER'] === 'none'
      ? null
      : new RequestMetrics(isNewest(env['OTEL_SEMCONV_STABILITY_OPT_IN']))
  const reader =
    metrics === null
      ? null
      : new MetricReader(
          collector,
          () => [...registry().readings(), ...metrics.readings()],
          numberIn(env['OTEL_METRIC_EXPORT_INTERVAL']) ?? usualIntervalMs,
        )
  return {
    ended(settlement, row) {
      const traceId = spans?.note(settlement, row) ?? null
      metrics?.note(settlement, row, traceId)
      return traceId
    },
    counts: spans?.counts ?? { sent: 0, dropped: 0 },
    async flush() {
      await Promise.all([spans?.flush(), reader?.flush()])
    },
  }
}

/** Source: OpenTelemetry specification, "Periodic exporting MetricReader". */
const usualIntervalMs = 60_000

/** OpenTelemetry, "Environment Variable Specification": an empty value counts as unset, a wrong one is ignored. */
export function numberIn(text = ''): number | null {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : null
}

/** The conventions keep their older names unless the user asks for the newest. */
function isNewest(optIn: string | undefined): boolean {
  return (optIn ?? '').split(',').some((each) => each.trim() === 'gen_ai_latest_experimental')
}
