// Two scripted vendors behind one gateway, and what a client got for a request, for the fault tests.

import { afterAll, expect } from 'bun:test'
import type { Gateway } from './gateway.ts'
import {
  expectCleanLog,
  SharedGateways,
  type StageGateway,
  type StageOptions,
  secrets,
} from './shared-gateways.ts'
import type { Upstream } from './upstream.ts'

type Section = Readonly<Record<string, unknown>>

export interface Scene {
  readonly gateway: StageGateway
  /** Always called first. */
  readonly first: Upstream
  /** Called only if the first cannot serve. */
  readonly second: Upstream
  /** A chat request as a whole reply. */
  chat(more?: Section): Promise<Seen>
  /** A chat request as a stream, read to its end. */
  stream(more?: Section): Promise<Seen>
}

/** The result of one request. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly requestId: string
  readonly text: string
  /** The connection broke before the body was complete. */
  readonly broken: boolean
  /** Payloads of the events, including `[DONE]`. */
  readonly events: readonly string[]
  readonly comments: number
  /** Text of the choices' deltas, or of the message. */
  readonly content: string
  /** The error of the body, or of the last event. */
  readonly error: WireError | null
  readonly elapsedMs: number
}

export interface WireError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

export const chatBody = { model: 'm', messages: [{ role: 'user', content: 'Say hello.' }] }

const gateways = new SharedGateways()
afterAll(() => gateways.stop())

/**
 * Runs `play` on a stage, then checks what every test of a fault must check: no vendor's key in the client's bytes or
 * in the log, and no internal error of the gateway.
 */
export async function onStage(
  options: StageOptions,
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using stage = await gateways.lend(options)
  const seen: string[] = []
  const ask = async (body: Section) => {
    const one = await request(stage.gateway, body)
    seen.push(one.text, JSON.stringify(one.headers))
    return one
  }
  await play({
    ...stage,
    chat: (more) => ask({ ...chatBody, ...more }),
    stream: (more) => ask({ ...chatBody, stream: true, ...more }),
  })
  for (const secret of secrets) expect(seen.join('\n')).not.toContain(secret)
  expectCleanLog(stage.log())
}

/** Sends one request and reads its reply to the end, whatever that is. */
export async function request(
  gateway: Pick<Gateway, 'post'>,
  body: Section,
  path = '/v1/chat/completions',
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  const startedMs = performance.now()
  const response = await gateway.post(path, body, { headers })
  const { text, broken } = await readAll(response)
  const streamed = response.headers.get('content-type')?.includes('event-stream') === true
  return {
    status: response.status,
    headers: response.headers,
    requestId: response.headers.get('x-request-id') ?? '',
    text,
    broken,
    ...(streamed ? fromStream(text) : fromBody(text)),
    elapsedMs: performance.now() - startedMs,
  }
}

async function readAll(response: Response): Promise<{ text: string; broken: boolean }> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true })
    return { text, broken: false }
  } catch {
    // A broken connection is one of the results that the tests expect.
    return { text, broken: true }
  }
}

interface ReadReply {
  readonly events: readonly string[]
  readonly comments: number
  readonly content: string
  readonly error: WireError | null
}

/** Reads as strictly as the simplest clients do: frames end in two LF, one `data: ` line each. */
function fromStream(text: string): ReadReply {
  const frames = text.split('\n\n').filter((frame) => frame !== '')
  const events = frames.filter((frame) => frame.startsWith('data: ')).map((frame) => frame.slice(6))
  const parsed = events.filter((event) => event !== '[DONE]').map(parse)
  const error = parsed.map((event) => event?.error ?? null).at(-1) ?? null
  const content = parsed.map((event) => event?.choices?.[0]?.delta?.content ?? '').join('')
  const comments = frames.filter((frame) => frame.startsWith(':')).length
  return { events, comments, content, error }
}

function fromBody(text: string): ReadReply {
  const body = parse(text)
  const content = body?.choices?.[0]?.message?.content ?? ''
  return { events: [], comments: 0, content, error: body?.error ?? null }
}

interface Loose {
  readonly error?: WireError
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string }
    readonly message?: { readonly content?: string }
  }[]
}

/** null if it is not JSON: the tests then fail for what is missing. */
function parse(text: string): Loose | null {
  try {
    return JSON.parse(text) as Loose
  } catch {
    return null
  }
}

/** Checks that the client got an error in the OpenAI form, with this status and code. */
export function expectError(seen: Seen, status: number, code: string): WireError {
  expect({ status: seen.status, code: seen.error?.code }).toEqual({ status, code })
  expect(seen.headers.get('content-type')).toStartWith('application/json')
  expect(seen.requestId).not.toBe('')
  const body = JSON.parse(seen.text) as { error: WireError }
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
  return body.error
}

/** Checks a stream that was cut after its commit: what came before, an error frame, and no normal end. */
export function expectCutStream(seen: Seen, content: string): void {
  expect({ status: seen.status, content: seen.content, broken: seen.broken }).toEqual({
    status: 200,
    content,
    broken: false,
  })
  expect(seen.error?.code).toBe('service_unavailable')
  expect(seen.events).not.toContain('[DONE]')
  expect(seen.text).not.toContain('"finish_reason":"stop"')
  expect(seen.events.at(-1)).toStartWith('{"error":')
}

/** Checks that the second channel served, after the first had failed once. */
export async function expectFailover(scene: Scene, seen: Seen, content: string): Promise<void> {
  expect({ status: seen.status, content: seen.content }).toEqual({ status: 200, content })
  expect(scene.second.requests).toHaveLength(1)
  const row = await scene.gateway.row(seen.requestId)
  expect(row).toMatchObject({
    attempts: 2,
    channel: 'second',
    status: 200,
    errorCode: null,
    input: 7,
    output: 5,
    usageSource: 'reported',
  })
}
