// The section of the file on where traces and metrics are sent.

import { z } from 'zod'
import { isHttpUrl, withoutTrailingSlash } from './rules.ts'
import { checkedText, key, pairs, part, section } from './schema-parts.ts'

const otlp = section({
  endpoint: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    'Base address of a collector for OTLP over HTTP, such as http://localhost:4318; left out: OTEL_EXPORTER_OTLP_ENDPOINT, else nothing is sent.',
  ),
  headers: key(
    pairs(
      z.string().regex(/^[a-z0-9-]+$/, 'expected the name of a header in lower case'),
      z.string().regex(/^[\x20-\x7e]+$/, 'expected printable ASCII characters'),
    ),
    'Headers sent to the collector, such as its key; they override those of OTEL_EXPORTER_OTLP_HEADERS.',
    {},
  ),
  ratio: key(
    z
      .number('expected a number from 0 to 1')
      .min(0, 'expected a number from 0 to 1')
      .max(1, 'expected a number from 0 to 1'),
    'Share of requests that are traced, from 0 to 1, if their client has not decided; left out: OTEL_TRACES_SAMPLER_ARG, else 1.',
  ),
})

export const telemetry = section({
  otlp: part(otlp, 'OpenTelemetry collector for traces and metrics.'),
})
