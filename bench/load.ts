/** Sends the load: wrk for whole replies, the compiled stream client for event streams. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mock, Route } from './mock.ts'
import { runOnLoadCore } from './processes.ts'

/** Where a gateway receives the requests for one model. */
export interface Target {
  port: number
  path: string
  headers: Record<string, string>
}

export interface WrkResult {
  requests: number
  seconds: number
  bytes: number
  p50Us: number
  p99Us: number
  maxUs: number
  /** Replies that differ from the expected one, if one was given. */
  altered: number
  /** 401 replies of a key flood. */
  refused: number
  badStatus: number
  socketErrors: number
}

export interface WrkPlan {
  connections: number
  seconds: number
  /** Compare each reply with the route's. */
  check: boolean
  /** Mean pause of each connection before a request: load at a fixed rate. */
  paceMs?: number
  /** Each n-th key is the valid one, 0 for none, the others are new invalid ones. */
  floodEvery?: number
}

export interface StreamsResult {
  streams: number
  clean: number
  /** The largest number of streams that were between their first event and their end at one time. */
  peak: number
  events: number
  lost: number
  altered: number
  disordered: number
  late: number
  badStatus: number
  connectErrors: number
  ttftP50Us: number
  ttftP99Us: number
  transitP50Us: number
  transitP99Us: number
  transitMaxUs: number
  seconds: number
}

export const LATE_MS = 200

/** Closed or paced loop of one route's request. */
export async function runWrk(
  rig: string,
  mock: Mock,
  route: Route,
  target: Target,
  plan: WrkPlan,
): Promise<WrkResult> {
  const text = (kind: string) => join(mock.folder, `${route.model}.${kind}`)
  const wrk = ['-t1', `-c${plan.connections}`, `-d${plan.seconds}s`, '--timeout', '30s']
  const script = [`body=${text('request')}`]
  if (plan.check) script.push(`expect=${text('reply')}`)
  if (plan.paceMs !== undefined) script.push(`paceMs=${plan.paceMs}`)
  if (plan.floodEvery !== undefined) script.push(`floodEvery=${plan.floodEvery}`)
  for (const [name, value] of Object.entries(target.headers))
    script.push(`header=${name}: ${value}`)
  const url = `http://127.0.0.1:${target.port}${target.path}`
  const args = [...wrk, '-s', join(rig, 'load.lua'), url, '--', ...script]
  const out = await runOnLoadCore('wrk', args)
  const line = out.split('\n').find((each) => each.startsWith('BENCH '))
  if (line === undefined) throw new Error(`wrk printed no result:\n${out}`)
  return JSON.parse(line.slice('BENCH '.length))
}

/** Opens a stream route's streams over `rampMs`. `strict` compares each byte; otherwise numbers and end. */
export async function runStreams(
  program: string,
  mock: Mock,
  route: Route,
  target: Target,
  options: { rampMs: number; strict: boolean },
): Promise<StreamsResult> {
  const { pace } = route
  if (pace === undefined) throw new Error(`${route.model} is no stream`)
  const headers = Object.entries({
    host: `127.0.0.1:${target.port}`,
    'content-type': 'application/json',
    accept: 'text/event-stream',
    'content-length': String(Buffer.byteLength(route.request)),
    ...target.headers,
  })
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const request = join(mock.folder, `${route.model}.http`)
  writeFileSync(request, `POST ${target.path} HTTP/1.1\r\n${head}\r\n${route.request}`)
  const lengthSeconds = (pace.events * pace.highMs + options.rampMs) / 1000
  const out = await runOnLoadCore(program, [
    String(target.port),
    request,
    join(mock.folder, `${route.model}.event`),
    join(mock.folder, `${route.model}.tail`),
    String(pace.streams),
    String(pace.events),
    String(options.rampMs),
    String(LATE_MS),
    String(Math.ceil(lengthSeconds * 2) + 10),
    options.strict ? 'strict' : 'loose',
  ])
  return JSON.parse(out)
}
