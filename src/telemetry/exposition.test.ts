// Tests OpenMetrics and the plain text format: who gets which, and that both have the same values.

import { expect, test } from 'bun:test'
import { expositionFor, labelled } from './exposition.ts'
import { createRegistry } from './registry.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const wanted = 'application/openmetrics-text;version=1.0.0'
const plain = 'text/plain; version=0.0.4; charset=utf-8'
const open = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** The header that Prometheus 3 sends. */
const ofPrometheus =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,' +
  'application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,' +
  'text/plain;version=0.0.4;q=0.3,*/*;q=0.2'

test.each([
  [null, plain],
  ['', plain],
  ['*/*', plain],
  ['text/plain', plain],
  ['text/html, */*;q=0.8', plain],
  [`${wanted};q=0.2, text/plain;q=0.9`, plain],
  [`${wanted};q=0`, plain],
  [`${wanted};q=0.5, ${wanted};q=0.1, text/plain;q=0.3`, open],
  [wanted, open],
  ['Application/OpenMetrics-Text', open],
  [ofPrometheus, open],
])('%p is answered as %s', (accept, contentType) => {
  expect(expositionFor(accept).contentType).toBe(contentType)
})

function readings() {
  const registry = createRegistry()
  registry
    .counter({ name: 'answers_total', help: 'Of "all".', labels: ['route'] })
    .with('/v1 "a"\n')
    .inc(3)
  registry.gauge({ name: 'depth', help: 'How\\deep.' }).with().set(1.5)
  const seconds = registry.histogram({ name: 'seconds', help: 'Taken.' }, [0.5, 1, 10]).with()
  seconds.observe(0.2)
  seconds.observe(0.7, traceId)
  seconds.observe(0.8, null)
  seconds.observe(70, traceId)
  return registry.readings()
}

test('OpenMetrics has the last trace of each bucket, and ends', () => {
  const text = expositionFor(wanted).print(readings())
  const isoless = text.replaceAll(/ \d{10}\.\d{3}$/gm, ' AT')
  expect(isoless).toBe(
    [
      '# TYPE answers counter',
      '# HELP answers Of \\"all\\".',
      'answers_total{route="/v1 \\"a\\"\\n"} 3',
      '# TYPE depth gauge',
      '# HELP depth How\\\\deep.',
      'depth 1.5',
      '# TYPE seconds histogram',
      '# HELP seconds Taken.',
      'seconds_bucket{le="0.5"} 1',
      `seconds_bucket{le="1.0"} 3 # {trace_id="${traceId}"} 0.7 AT`,
      'seconds_bucket{le="10.0"} 3',
      `seconds_bucket{le="+Inf"} 4 # {trace_id="${traceId}"} 70 AT`,
      'seconds_sum 71.7',
      'seconds_count 4',
      '# EOF',
      '',
    ].join('\n'),
  )
})

test('the plain text has no traces', () => {
  expect(expositionFor(null).print(readings())).toBe(
    [
      '# HELP answers_total Of "all".',
      '# TYPE answers_total counter',
      'answers_total{route="/v1 \\"a\\"\\n"} 3',
      '# HELP depth How\\\\deep.',
      '# TYPE depth gauge',
      'depth 1.5',
      '# HELP seconds Taken.',
      '# TYPE seconds histogram',
      'seconds_bucket{le="0.5"} 1',
      'seconds_bucket{le="1"} 3',
      'seconds_bucket{le="10"} 3',
      'seconds_bucket{le="+Inf"} 4',
      'seconds_sum 71.7',
      'seconds_count 4',
      '',
    ].join('\n'),
  )
})

test('of several processes each says which it is, before its own labels', () => {
  const lines = expositionFor(null)
    .print(labelled(readings(), 'worker', '2'))
    .split('\n')
  expect(lines.filter((line) => !line.startsWith('#')).slice(0, 3)).toEqual([
    'answers_total{worker="2",route="/v1 \\"a\\"\\n"} 3',
    'depth{worker="2"} 1.5',
    'seconds_bucket{worker="2",le="0.5"} 1',
  ])
})
