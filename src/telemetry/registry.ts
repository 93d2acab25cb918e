// A registry of counters, gauges and histograms, read as data.

export interface Counter {
  /** Adds `by`, 1 by default; negative values are ignored, since a counter only grows. */
  inc(by?: number): void
}

export interface Gauge {
  set(value: number): void
  add(by: number): void
}

export interface Histogram {
  /** `traceId`: the trace of the request that was measured, if it has one: the last of each bucket is kept. */
  observe(value: number, traceId?: string | null): void
  /** The number of values in each bucket; the last bucket is for those above all bounds. */
  readonly counts: readonly number[]
}

/** One metric with its labels. Callers keep the child they resolved: counting is then a single addition. */
export interface Family<T> {
  readonly name: string
  /** The child for label values, in the order of the label names; `other` once there are too many. */
  with(...values: readonly string[]): T
}

export type Sample = readonly [labels: readonly string[], value: number]

interface Definition {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  /** The most children kept; further label values are counted under `other`. */
  readonly maxChildren?: number
}

/** A value with the trace of its request. */
export interface Exemplar {
  readonly traceId: string
  readonly value: number
  /** Unix milliseconds. */
  readonly at: number
}

/** The present values of a histogram. */
export interface Distribution {
  /** Upper bounds, ascending; values above all of them are last in `counts`. */
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
  /** The last exemplar of each bucket; empty where no request has a trace. */
  readonly exemplars: readonly (Exemplar | undefined)[]
}

/** The present values of a metric. */
export interface Reading {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly series: readonly {
    /** In the order of the labels. */
    readonly values: readonly string[]
    readonly value: number | Distribution
  }[]
}

export interface Registry {
  counter(definition: Definition): Family<Counter>
  gauge(definition: Definition): Family<Gauge>
  /** `buckets`: upper bounds, ascending, without the infinite one. */
  histogram(definition: Definition, buckets: readonly number[]): Family<Histogram>
  /** Adds a metric whose values are collected when it is read. */
  read(type: 'counter' | 'gauge', definition: Definition, collect: () => readonly Sample[]): void
  readonly names: readonly string[]
  readings(): readonly Reading[]
}

const defaultChildren = 500
const overflow = 'other'

interface Readable {
  readonly name: string
  reading(): Reading
}

interface NameShapes {
  readonly name: RegExp
  readonly label: RegExp
}

const prometheusNames: NameShapes = {
  name: /^[a-zA-Z_:][a-zA-Z0-9_:]*$/,
  label: /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/,
}
/** Source: OpenTelemetry, "Metrics API", instrument names; these are not printed for Prometheus. */
export const openTelemetryNames: NameShapes = {
  name: /^[a-z][a-z0-9_.]{0,254}$/,
  label: /^[a-z][a-z0-9_.]*$/,
}

export function createRegistry(shapes: NameShapes = prometheusNames): Registry {
  const metrics = new Map<string, Readable>()
  const add = <T extends Readable>(metric: T, definition: Definition): T => {
    check(definition, shapes)
    if (metrics.has(metric.name)) throw new Error(`metric ${metric.name} is registered twice`)
    metrics.set(metric.name, metric)
    return metric
  }
  return {
    counter: (definition) => add(new Children(definition, 'counter', () => new Cell()), definition),
    gauge: (definition) => add(new Children(definition, 'gauge', () => new Cell()), definition),
    histogram: (definition, buckets) =>
      add(new Children(definition, 'histogram', () => new Buckets(buckets)), definition),
    read(type, definition, collect) {
      const { name, help } = definition
      const reading = () => {
        const series = collect().map(([values, value]) => ({ values, value }))
        return { name, help, type, labels: names(definition), series }
      }
      add({ name, reading }, definition)
    },
    get names() {
      return [...metrics.keys()]
    },
    readings: () => [...metrics.values()].map((metric) => metric.reading()),
  }
}

class Children<T extends { read(): number | Distribution }> implements Family<T>, Readable {
  readonly name: string
  readonly #definition: Definition
  readonly #type: Reading['type']
  readonly #make: () => T
  readonly #children = new Map<string, { readonly values: readonly string[]; readonly child: T }>()

  constructor(definition: Definition, type: Reading['type'], make: () => T) {
    this.name = definition.name
    this.#definition = definition
    this.#type = type
    this.#make = make
    // Without labels there is one series, which exists from the start.
    if (names(definition).length === 0) this.with()
  }

  with(...values: readonly string[]): T {
    const { maxChildren = defaultChildren } = this.#definition
    const labels = names(this.#definition)
    if (values.length !== labels.length)
      throw new Error(`${this.name} has ${labels.length} labels, not ${values.length}`)
    const key = values.join('\u0000')
    const known = this.#children.get(key)
    if (known !== undefined) return known.child
    if (this.#children.size >= maxChildren && values.some((value) => value !== overflow))
      return this.with(...values.map(() => overflow))
    const child = this.#make()
    this.#children.set(key, { values, child })
    return child
  }

  reading(): Reading {
    const { name, help } = this.#definition
    const series = [...this.#children.values()].map(({ values, child }) => ({
      values,
      value: child.read(),
    }))
    return { name, help, type: this.#type, labels: names(this.#definition), series }
  }
}

class Cell implements Counter, Gauge {
  value = 0
  inc(by = 1): void {
    if (by > 0) this.value += by
  }
  set(value: number): void {
    this.value = value
  }
  add(by: number): void {
    this.value += by
  }
  read(): number {
    return this.value
  }
}

class Buckets implements Histogram, Distribution {
  readonly bounds: readonly number[]
  /** One more than the bounds, for values above all of them. */
  readonly counts: number[]
  readonly exemplars: Exemplar[] = []
  sum = 0

  constructor(bounds: readonly number[]) {
    if (bounds.some((bound, index) => index > 0 && bound <= (bounds[index - 1] ?? bound)))
      throw new Error('buckets must ascend')
    this.bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  observe(value: number, traceId: string | null = null): void {
    if (Number.isNaN(value)) return
    let index = 0
    while (index < this.bounds.length && value > (this.bounds[index] ?? 0)) index += 1
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.sum += value
    if (traceId !== null) this.exemplars[index] = { traceId, value, at: Date.now() }
  }

  read(): Distribution {
    return this
  }
}

function check(definition: Definition, shapes: NameShapes): void {
  if (!shapes.name.test(definition.name)) throw new Error(`bad metric name ${definition.name}`)
  for (const label of names(definition))
    if (!shapes.label.test(label)) throw new Error(`bad label ${label} of ${definition.name}`)
}

function names(definition: Definition): readonly string[] {
  return definition.labels ?? []
}
