// A strict reader of Prometheus text, version 0.0.4: throws on anything a scraper would refuse.
// Source: https://prometheus.io/docs/instrumenting/exposition_formats/

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const types = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped'])

/** Throws with the line at fault. */
export function parsePrometheus(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no line end')
  const typeOf = new Map<string, string>()
  const seen = new Set<string>()
  const closed = new Set<string>()
  const samples: Sample[] = []
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line)
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment
      if (name !== current) closed.add(current)
      if (closed.has(name)) throw new Error(`a family in two places: ${line}`)
      current = name
      if (kind === 'TYPE' && (typeOf.has(name) || !types.has(rest))) throw new Error(line)
      if (kind === 'TYPE') typeOf.set(name, rest)
      continue
    }
    const sample = readSample(line)
    if (familyOf(sample.name, typeOf) !== current) throw new Error(`without its TYPE: ${line}`)
    const identity = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
    if (seen.has(identity)) throw new Error(`twice: ${line}`)
    seen.add(identity)
    samples.push(sample)
  }
  checkHistograms(samples, typeOf)
  return samples
}

function familyOf(name: string, typeOf: ReadonlyMap<string, string>): string {
  if (typeOf.has(name)) return name
  const base = name.replace(/_(bucket|sum|count)$/, '')
  return typeOf.get(base) === 'histogram' ? base : ''
}

function readSample(line: string): Sample {
  const [, name = '', labelText, valueText = ''] = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  if (!metricName.test(name)) throw new Error(`no sample: ${line}`)
  const value = valueText === '+Inf' ? Number.POSITIVE_INFINITY : Number(valueText)
  if (Number.isNaN(value)) throw new Error(`no number: ${line}`)
  return { name, labels: readLabels(labelText ?? '', line), value }
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const match = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/.exec(rest)
    if (match === null) throw new Error(`labels: ${line}`)
    const [whole, name = '', value = ''] = match
    if (name in labels) throw new Error(`a label twice: ${line}`)
    labels[name] = value.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
    rest = rest.slice(whole.length)
  }
  return labels
}

/** Buckets increase with their bound, and the last equals the count. */
function checkHistograms(samples: readonly Sample[], typeOf: ReadonlyMap<string, string>): void {
  for (const [family, type] of typeOf) {
    if (type !== 'histogram') continue
    const last = new Map<string, Sample>()
    for (const sample of samples) {
      if (sample.name !== `${family}_bucket`) continue
      const { le: _le, ...labels } = sample.labels
      const key = JSON.stringify(labels)
      if (sample.value < (last.get(key)?.value ?? 0)) throw new Error(`${family} ${key} shrinks`)
      last.set(key, sample)
    }
    for (const sample of samples) {
      if (sample.name !== `${family}_count`) continue
      const top = last.get(JSON.stringify(sample.labels))
      if (top?.labels['le'] !== '+Inf' || top.value !== sample.value) {
        throw new Error(`${family} ${JSON.stringify(sample.labels)} does not add up`)
      }
    }
  }
}
