/** The workloads: each sends load to one running gateway, checks the replies, and returns its figures. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Gateway, Running } from './gateways.ts'
import { runStreams, runWrk, type StreamsResult, type WrkPlan } from './load.ts'
import { type Mock, type Route, routeOf } from './mock.ts'
import type { Options } from './options.ts'
import { childrenUs, cpuUs, rssMb, type ThreadTimes, threadTimes, untilQuiet } from './processes.ts'
import type { Sent } from './usage.ts'

export type Figures = Record<string, number>

/** One gateway, started, with what its workloads need. */
export interface Bench {
  options: Options
  rig: string
  streamsProgram: string
  mock: Mock
  gateway: Gateway
  running: Running
  sent: Sent
  /** Notes what was lost or altered. */
  fail(what: string): void
}

/** CPU, in microseconds. */
interface Cpu extends ThreadTimes {
  /** All threads and children. */
  all: number
  /** Of each serving process, where the gateway has several. */
  childrenUs: number[]
}

const notMeasured: Cpu = {
  all: Number.NaN,
  mainUs: Number.NaN,
  workersUs: Number.NaN,
  childrenUs: [],
}

/** Runs a load; returns its result and the gateway's CPU, including the work after the load's end. */
async function withCpu<Result>(bench: Bench, load: () => Promise<Result>) {
  const { pid } = bench.running
  if (pid === undefined) return { result: await load(), cpu: notMeasured }
  const times = (): Cpu => ({
    all: cpuUs(pid),
    ...threadTimes(pid),
    childrenUs: childrenUs(pid),
  })
  const before = times()
  const result = await load()
  await untilQuiet(pid)
  const after = times()
  const cpu: Cpu = {
    all: after.all - before.all,
    mainUs: after.mainUs - before.mainUs,
    workersUs: after.workersUs - before.workersUs,
    childrenUs: after.childrenUs.map((us, at) => us - (before.childrenUs[at] ?? 0)),
  }
  return { result, cpu }
}

/** The least work of a serving process as a part of an equal share; 1: all did the same. */
function fairness({ childrenUs: us }: Cpu): number {
  return (Math.min(...us) * us.length) / us.reduce((sum, each) => sum + each, 0)
}

/** CPU for each of `count` requests or events: in total, and by threads if the gateway has several. */
function cpuFigures(workload: 'w1' | 'w3', cpu: Cpu, count: number): Figures {
  const own = cpu.all - cpu.mainUs - cpu.workersUs
  return {
    [`${workload}.cpuUs`]: cpu.all / count,
    ...(cpu.workersUs > 0 && {
      [`${workload}.mainUs`]: cpu.mainUs / count,
      [`${workload}.workersUs`]: cpu.workersUs / count,
      [`${workload}.ownUs`]: own / count,
    }),
  }
}

async function wrk(bench: Bench, model: string, plan: Omit<WrkPlan, 'check'>) {
  const route = routeOf(bench.mock, model)
  const check = bench.gateway.strict
  const target = bench.running.target(model)
  const load = () => runWrk(bench.rig, bench.mock, route, target, { ...plan, check })
  const measured = await withCpu(bench, load)
  const { result } = measured
  bench.sent.add(model, result.requests - result.refused, plan.connections)
  const bad = result.badStatus - result.refused
  if (result.altered > 0 || bad > 0 || result.socketErrors > 0) {
    bench.fail(
      `${model}: of ${result.requests} replies ${result.altered} altered, ${bad} of a wrong status, ` +
        `${result.socketErrors} socket errors`,
    )
  }
  return measured
}

/** Longest warm-up; a gateway that has not finished it by then is measured nevertheless. */
const mostWarmSeconds = 20

/** After this many requests a just-in-time compiler has compiled the code; by count, since slow gateways take longer. */
async function warm(bench: Bench, model: string, connections: number, count: number) {
  let sent = 0
  for (let second = 0; second < mostWarmSeconds && sent < count; second++) {
    const { result } = await wrk(bench, model, { connections, seconds: 1 })
    sent += result.requests
  }
}

/** Runs large requests in a closed loop, after a part of the warm-up. */
async function largeLoop(bench: Bench, model: string, { part }: { part: number }): Promise<number> {
  const { seconds, warmRequests } = bench.options
  await warm(bench, model, 16, Math.ceil(warmRequests / part))
  const { result, cpu } = await wrk(bench, model, { connections: 16, seconds })
  return cpu.all / result.requests
}

async function post(bench: Bench, route: Route): Promise<string> {
  const { port, path, headers } = bench.running.target(route.model)
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: route.request,
  })
  const text = await reply.text()
  if (reply.status !== 200)
    bench.fail(`${route.model}: status ${reply.status}: ${text.slice(0, 300)}`)
  else bench.sent.add(route.model, 1)
  return text
}

/** Whether each of the reply's own fields arrived; a gateway that is not strict may add some. */
function sameMeaning(reply: string, expected: string): boolean {
  const wanted: Record<string, unknown> = JSON.parse(expected)
  const got: Record<string, unknown> = JSON.parse(reply)
  return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(got[name], value))
}

/** One request of each whole kind, compared in both directions: what the vendor saw, what the client got. */
export async function checkSamples(bench: Bench): Promise<void> {
  for (const route of bench.mock.routes.values()) {
    if (route.kind === 'stream') continue
    // A gateway that serialises the JSON again may change the order of fields, and so the MD5.
    if (route.kind === 'echo' && !bench.gateway.strict) continue
    const md5 = createHash('md5').update(route.request).digest('hex')
    const seen = `${Buffer.byteLength(route.request)} ${md5}`
    const expected = route.reply.replace('@SEEN@', seen)
    const reply = await post(bench, route)
    const same = bench.gateway.strict ? reply === expected : sameMeaning(reply, expected)
    if (!same) {
      bench.fail(`${route.model}: the reply is not the expected one: ${reply.slice(0, 300)}`)
    }
  }
}

/** 1 KB requests with whole replies. */
async function w1(bench: Bench): Promise<Figures> {
  const { quick, seconds, warmRequests } = bench.options
  const { pid } = bench.running
  const model = 'bench-whole'
  await warm(bench, model, 64, warmRequests)
  const loop = await withPeakRss(pid, () => wrk(bench, model, { connections: 64, seconds }))
  const { result, cpu } = loop.result
  const single = await wrk(bench, model, { connections: 1, seconds: Math.ceil(seconds / 3) })
  const figures: Figures = {
    ...cpuFigures('w1', cpu, result.requests),
    'w1.perSecond': result.requests / result.seconds,
    'w1.p99Ms': result.p99Us / 1000,
    'w1.coreShare': cpu.all / 1e6 / result.seconds,
    ...(cpu.childrenUs.length > 1 && { 'w1.fairness': fairness(cpu) }),
    ...(pid !== undefined && { 'w1.peakMb': loop.peakMb }),
    'w1.c1P50Us': single.result.p50Us,
    'w1.c1P99Us': single.result.p99Us,
  }
  const rate = bench.gateway.fixedRate
  if (rate > 0 && !quick) {
    const connections = 64
    const paceMs = Math.round((connections * 1000) / rate)
    const paced = await wrk(bench, model, { connections, seconds, paceMs })
    figures['w1.pacedCpuUs'] = paced.cpu.all / paced.result.requests
    figures['w1.pacedPerSecond'] = paced.result.requests / paced.result.seconds
  }
  return figures
}

/** 400 KB prompts, of prose, of code and of JSON in a string, and replies of 100 KB. */
async function w2(bench: Bench): Promise<Figures> {
  return {
    'w2.proseCpuUs': await largeLoop(bench, 'bench-prose', { part: 10 }),
    'w2.codeCpuUs': await largeLoop(bench, 'bench-code', { part: 10 }),
    'w2.nestedCpuUs': await largeLoop(bench, 'bench-nested', { part: 10 }),
    'w2.largeCpuUs': await largeLoop(bench, 'bench-large', { part: 10 }),
    'w2.largeCodeCpuUs': await largeLoop(bench, 'bench-large-code', { part: 10 }),
  }
}

async function streams(bench: Bench, model: string, rampMs: number) {
  const route = routeOf(bench.mock, model)
  const { strict } = bench.gateway
  const target = bench.running.target(model)
  const load = () => runStreams(bench.streamsProgram, bench.mock, route, target, { rampMs, strict })
  const measured = await withCpu(bench, load)
  const { result } = measured
  bench.sent.add(model, result.clean)
  const faults = result.lost + result.altered + result.disordered + result.badStatus
  if (faults > 0 || result.connectErrors > 0 || result.clean !== result.streams) {
    bench.fail(`${model}: ${JSON.stringify(result)}`)
  }
  return measured
}

function streamFigures(prefix: string, result: StreamsResult): Figures {
  if (result.events === 0) return {}
  return {
    [`${prefix}.ttftP50Ms`]: result.ttftP50Us / 1000,
    [`${prefix}.ttftP99Ms`]: result.ttftP99Us / 1000,
    [`${prefix}.transitP50Us`]: result.transitP50Us,
    [`${prefix}.transitP99Us`]: result.transitP99Us,
    [`${prefix}.transitMaxMs`]: result.transitMaxUs / 1000,
  }
}

/** 200 streams whose events come 40 to 100 ms apart. */
async function w3(bench: Bench): Promise<Figures> {
  await streams(bench, 'bench-warm', 500)
  const { result, cpu } = await streams(bench, 'bench-stream', 1000)
  return { ...cpuFigures('w3', cpu, result.events), ...streamFigures('w3', result) }
}

async function withPeakRss<Result>(pid: number | undefined, load: () => Promise<Result>) {
  let peakMb = 0
  const sample = () => {
    if (pid !== undefined) peakMb = Math.max(peakMb, rssMb(pid))
  }
  const timer = setInterval(sample, 200)
  try {
    return { result: await load(), peakMb }
  } finally {
    clearInterval(timer)
  }
}

/** 1,000 streams at one time: first the memory of a fresh process before, with and after them, then what they cost. */
async function w4(bench: Bench): Promise<Figures> {
  const { pid } = bench.running
  await post(bench, routeOf(bench.mock, 'bench-whole'))
  if (pid !== undefined) await untilQuiet(pid)
  const idleMb = pid === undefined ? 0 : rssMb(pid)
  const few = await withPeakRss(pid, () => streams(bench, 'bench-few', 500))
  const many = await withPeakRss(pid, () => streams(bench, 'bench-many', 2000))
  const afterMb = pid === undefined ? 0 : rssMb(pid)
  const { result, cpu } = await streams(bench, 'bench-many', 2000)
  for (const { streams: wanted, peak } of [many.result.result, result])
    if (peak < wanted && bench.gateway.strict)
      bench.fail(`bench-many: only ${peak} of ${wanted} streams ran at one time`)
  const figures: Figures = {
    'w4.peak': result.peak,
    'w4.lost': many.result.result.lost + result.lost,
    'w4.late': result.late,
    'w4.eventCpuUs': cpu.all / result.events,
    ...streamFigures('w4', result),
  }
  if (pid === undefined) return figures
  return {
    ...figures,
    'w4.idleMb': idleMb,
    'w4.manyMb': many.peakMb,
    'w4.risePer1000Mb': many.peakMb - idleMb,
    'w4.slopePer1000Mb': (many.peakMb - few.peakMb) / 0.8,
    'w4.afterMb': afterMb,
  }
}

/** A flood of invalid keys, nine of ten, then nothing else. */
async function w5(bench: Bench): Promise<Figures> {
  if (!bench.gateway.checksKeys) return {}
  const { seconds } = bench.options
  const mixed = await wrk(bench, 'bench-flood', { connections: 64, seconds, floodEvery: 10 })
  const only = await wrk(bench, 'bench-flood', { connections: 64, seconds, floodEvery: 0 })
  const expected = mixed.result.requests * 0.9
  if (
    Math.abs(mixed.result.refused - expected) > 64 ||
    only.result.refused < only.result.requests
  ) {
    const { requests, refused } = mixed.result
    bench.fail(
      `key flood: ${refused} of ${requests} refused, and ${only.result.refused} of ${only.result.requests}`,
    )
  }
  return {
    'w5.mixedCpuUs': mixed.cpu.all / mixed.result.requests,
    'w5.refusedCpuUs': only.cpu.all / only.result.refused,
  }
}

/** Replies of binary data: an image of 2 MB as base64, embeddings of 5 MB. */
async function w7(bench: Bench): Promise<Figures> {
  return {
    'w7.imageCpuUs': await largeLoop(bench, 'bench-image', { part: 50 }),
    'w7.embeddingCpuUs': await largeLoop(bench, 'bench-embedding', { part: 100 }),
  }
}

/** 5,000 streams at one time, an event a second each. */
async function w8(bench: Bench): Promise<Figures> {
  const { pid } = bench.running
  await streams(bench, 'bench-warm', 500)
  const { result: measured, peakMb } = await withPeakRss(pid, () =>
    streams(bench, 'bench-crowd', 8000),
  )
  const { result, cpu } = measured
  return {
    'w8.peak': result.peak,
    'w8.lost': result.lost,
    'w8.late': result.late,
    'w8.cpuUs': cpu.all / result.events,
    'w8.transitP99Us': result.transitP99Us,
    ...(pid !== undefined && { 'w8.peakMb': peakMb }),
  }
}

const LOADS = { w1, w2, w3, w4, w5, w7, w8 }
export type LoadName = keyof typeof LOADS

/** Runs one workload on the bench's gateway. Late events are reported; lost or altered ones are a failure. */
export async function runWorkload(name: LoadName, bench: Bench): Promise<Figures> {
  const figures = Object.entries(await LOADS[name](bench))
  // The direct column has no gateway and so no CPU; and without events there is no cost per event.
  return Object.fromEntries(figures.filter(([, value]) => Number.isFinite(value)))
}
