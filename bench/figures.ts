/** What is published: each figure's name, unit and target, and how samples become medians and verdicts. */
import type { Figures } from './workloads.ts'

export interface Target {
  /** Gateway whose median is multiplied by `most`; undefined for an absolute bound. */
  against?: string
  most: number
}

export interface Figure {
  id: string
  label: string
  unit: string
  digits: number
  targets?: Target[]
}

export interface Sample {
  gateway: string
  round: number
  figures: Figures
}

export interface Summary {
  median: number
  min: number
  max: number
  count: number
}

export interface Verdict {
  figure: Figure
  target: Target
  /** A ratio of medians, or the worst sample in the figure's own unit. */
  measured: number
  met: boolean
}

const haproxy = (most: number): Target => ({ against: 'haproxy', most })
const portkey = (most: number): Target => ({ against: 'portkey', most })

function row(id: string, label: string, unit: string, digits: number, targets?: Target[]): Figure {
  const figure = { id, label, unit, digits }
  return targets === undefined ? figure : { ...figure, targets }
}

const w1 = '1 KB request, whole reply'
const few = '200 paced streams'
const crowd = '5,000 streams, 1 s gaps'
const many = '1,000 streams, 100 ms gaps'

export const FIGURES: Figure[] = [
  row('w1.cpuUs', `${w1}, 64 connections: CPU`, 'us/request', 1, [haproxy(3), portkey(0.06)]),
  row('w1.mainUs', `${w1}, 64 connections: of it the main thread`, 'us/request', 1),
  row('w1.workersUs', `${w1}, 64 connections: of it the settling thread`, 'us/request', 1, [
    { most: 5 },
  ]),
  row('w1.ownUs', `${w1}, 64 connections: of it the runtime's threads`, 'us/request', 1),
  row('w1.perSecond', `${w1}, 64 connections: rate`, 'requests/s', 0),
  row('w1.p99Ms', `${w1}, 64 connections: p99`, 'ms', 2),
  row('w1.coreShare', `${w1}, 64 connections: share of its core`, '', 2),
  row('w1.fairness', `${w1}, 64 connections: least of several processes, of an equal share`, '', 2),
  row('w1.peakMb', `${w1}, 64 connections: memory`, 'MB', 1, [{ most: 110 }]),
  row('w1.pacedCpuUs', `${w1}, at a fixed rate: CPU`, 'us/request', 1),
  row('w1.pacedPerSecond', `${w1}, at a fixed rate: rate`, 'requests/s', 0),
  row('w1.c1P50Us', `${w1}, 1 connection: p50`, 'us', 0),
  row('w1.addedP50Us', `${w1}, 1 connection: p50 added to direct`, 'us', 0),
  row('w1.c1P99Us', `${w1}, 1 connection: p99`, 'us', 0, [haproxy(2)]),
  row('w1.addedP99Us', `${w1}, 1 connection: p99 added to direct`, 'us', 0),
  row('w2.proseCpuUs', '400 KB prompt, prose: CPU', 'us/request', 0, [haproxy(1.15)]),
  row('w2.codeCpuUs', '400 KB prompt, code: CPU', 'us/request', 0, [haproxy(1.5)]),
  row('w2.nestedCpuUs', '400 KB prompt, JSON in a string: CPU', 'us/request', 0, [haproxy(1.6)]),
  row('w2.largeCpuUs', '100 KB reply, prose: CPU', 'us/request', 0, [haproxy(2.5)]),
  row('w2.largeCodeCpuUs', '100 KB reply, code: CPU', 'us/request', 0, [haproxy(2.5)]),
  row('w7.imageCpuUs', '2 MB image reply: CPU', 'us/request', 0, [haproxy(2)]),
  row('w7.embeddingCpuUs', '5 MB embeddings reply: CPU', 'us/request', 0, [haproxy(1.3)]),
  row('w3.cpuUs', `${few}: CPU`, 'us/event', 1, [haproxy(1.8)]),
  row('w3.mainUs', `${few}: of it the main thread`, 'us/event', 1),
  row('w3.workersUs', `${few}: of it the settling thread`, 'us/event', 1),
  row('w3.ownUs', `${few}: of it the runtime's threads`, 'us/event', 1),
  row('w3.ttftP50Ms', `${few}: first event, p50`, 'ms', 2),
  row('w3.ttftP99Ms', `${few}: first event, p99`, 'ms', 2),
  row('w3.transitP50Us', `${few}: transit of an event, p50`, 'us', 0),
  row('w3.transitP99Us', `${few}: transit of an event, p99`, 'us', 0),
  row('w3.transitMaxMs', `${few}: transit of an event, longest`, 'ms', 2),
  row('w4.peak', `${many}: at one time`, 'streams', 0),
  row('w4.lost', `${many}: events lost`, '', 0, [{ most: 0 }]),
  row('w4.late', `${many}: events over 200 ms late`, '', 0, [{ most: 0 }]),
  row('w4.eventCpuUs', `${many}: CPU`, 'us/event', 1, [haproxy(1.8)]),
  row('w4.ttftP99Ms', `${many}: first event, p99`, 'ms', 2),
  row('w4.transitP99Us', `${many}: transit of an event, p99`, 'us', 0),
  row('w4.transitMaxMs', `${many}: transit of an event, longest`, 'ms', 2),
  row('w4.idleMb', 'Memory idle, one request served', 'MB', 1, [{ most: 60 }]),
  row('w4.manyMb', 'Memory at 1,000 streams', 'MB', 1),
  row('w4.risePer1000Mb', 'Memory from idle to 1,000 streams', 'MB', 1),
  row('w4.slopePer1000Mb', 'Memory per 1,000 streams (200 to 1,000)', 'MB', 1, [{ most: 35 }]),
  row('w4.afterMb', 'Memory after 1,000 streams', 'MB', 1),
  row('w8.peak', `${crowd}: at one time`, 'streams', 0),
  row('w8.lost', `${crowd}: events lost`, '', 0, [{ most: 0 }]),
  row('w8.late', `${crowd}: events over 200 ms late`, '', 0),
  row('w8.cpuUs', `${crowd}: CPU`, 'us/event', 1),
  row('w8.transitP99Us', `${crowd}: transit of an event, p99`, 'us', 0),
  row('w8.peakMb', `${crowd}: memory`, 'MB', 0),
  row('w5.mixedCpuUs', 'Key flood, 9 of 10 invalid: CPU', 'us/request', 1),
  row('w5.refusedCpuUs', 'Key flood, all invalid: CPU', 'us/refused', 1),
  row('w6.readyMs', 'Start to first 200', 'ms', 0, [{ most: 250 }]),
]

function median(sorted: number[]): number {
  const middle = (sorted.length - 1) / 2
  const low = sorted[Math.floor(middle)] ?? Number.NaN
  const high = sorted[Math.ceil(middle)] ?? Number.NaN
  return (low + high) / 2
}

/** Median, least and greatest of one gateway's figure; undefined where it was not measured. */
export function summarize(samples: Sample[], gateway: string, id: string): Summary | undefined {
  const values = samples
    .filter((sample) => sample.gateway === gateway)
    .map((sample) => sample.figures[id])
    .filter((value) => value !== undefined)
    .sort((a, b) => a - b)
  const [min] = values
  const max = values.at(-1)
  if (min === undefined || max === undefined) return undefined
  return { median: median(values), min, max, count: values.length }
}

/** Adds, round by round, each gateway's latency at one connection over the direct one's. */
export function addAddedLatency(samples: Sample[]): void {
  for (const sample of samples) {
    const direct = samples.find(
      ({ gateway, round, figures }) =>
        gateway === 'direct' && round === sample.round && figures['w1.c1P50Us'] !== undefined,
    )
    if (direct === undefined || sample.gateway === 'direct') continue
    for (const part of ['P50Us', 'P99Us']) {
      const own = sample.figures[`w1.c1${part}`]
      const floor = direct.figures[`w1.c1${part}`]
      if (own !== undefined && floor !== undefined) sample.figures[`w1.added${part}`] = own - floor
    }
  }
}

/** Each target with which this run's samples can be compared. An absolute bound is compared with the worst sample. */
export function judge(samples: Sample[], gateway: string): Verdict[] {
  return FIGURES.flatMap((figure) =>
    (figure.targets ?? []).flatMap((target) => {
      const own = summarize(samples, gateway, figure.id)
      if (own === undefined) return []
      if (target.against === undefined) {
        return [{ figure, target, measured: own.max, met: own.max <= target.most }]
      }
      const other = summarize(samples, target.against, figure.id)
      if (other === undefined) return []
      const measured = own.median / other.median
      return [{ figure, target, measured, met: measured <= target.most }]
    }),
  )
}
