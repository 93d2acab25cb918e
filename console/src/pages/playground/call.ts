// Calls to models from this page: with a separate key, which lives an hour and is kept only in memory.

import { change, Problem } from '../../api/client.ts'
import { meQuery, type Person, queryClient } from '../../api/queries.ts'
import type { Answer, Failure } from './chat.ts'
import { eventReader, failureOf, hear, nothingHeard } from './events.ts'

interface HeldKey {
  readonly key: string
  /** In milliseconds since the page was opened, so that a wrong clock does not matter. */
  readonly madeAtMs: number
}

/** By account and group; '' is the account's first group. Somebody else may sign in while the page is open. */
const held = new Map<string, Promise<HeldKey>>()
const usedForMs = 50 * 60_000
/** Every process of the gateway knows a key within a second. */
const knownAfterMs = 1_200

const nameOf = (group: string) =>
  JSON.stringify([queryClient.getQueryData<Person>(meQuery.queryKey)?.id, group])

function keyOf(group: string): Promise<HeldKey> {
  const name = nameOf(group)
  const found = held.get(name)
  if (found !== undefined) return found
  const asked = change('post', '/api/playground/key', { body: group === '' ? {} : { group } })
    .then(({ key }) => ({ key, madeAtMs: performance.now() }))
    .catch((error: unknown) => {
      held.delete(name)
      if (error instanceof Problem && error.status === 401)
        void queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
      throw error
    })
  held.set(name, asked)
  return asked
}

interface Call {
  readonly path: string
  readonly body: object
  readonly group: string | undefined
  readonly signal: AbortSignal
}

/** The reply, whatever its status. Throws Problem if no key is given, TypeError if nothing answers. */
export async function callModel({ path, body, group = '', signal }: Call): Promise<Response> {
  const name = nameOf(group)
  for (let triesLeft = 2; ; triesLeft -= 1) {
    const { key, madeAtMs } = await keyOf(group)
    const ageMs = performance.now() - madeAtMs
    const reply = await fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    const isOld = ageMs > usedForMs
    if (isOld) held.delete(name)
    if (reply.status !== 401 || triesLeft === 0) return reply
    // A new key may not be known everywhere yet; an older one has expired, or another page replaced it meanwhile.
    if (ageMs > knownAfterMs) held.delete(name)
    else await waited(knownAfterMs - ageMs, signal)
  }
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** The error in a reply that is not a success. */
export async function refusalOf(reply: Response): Promise<Failure> {
  try {
    const { error } = await reply.json()
    return failureOf(error)
  } catch {
    return { code: String(reply.status), message: `HTTP ${reply.status}` }
  }
}

/** An error before there was a reply, or in the middle of it. */
export function failureBy(error: unknown): Failure {
  if (error instanceof Problem) return { code: error.code, message: error.message }
  if (error instanceof SyntaxError) return { code: 'unreadable', message: error.message }
  return { code: 'offline', message: '' }
}

type Change = Partial<Answer>

/** Reports the answer as it arrives; never throws. What arrived before a stop or failure is kept. */
export async function streamChat(
  call: Omit<Call, 'path'>,
  tell: (change: Change) => void,
): Promise<void> {
  try {
    const reply = await callModel({ ...call, path: '/v1/chat/completions' })
    tell({ requestId: reply.headers.get('x-request-id') })
    if (!reply.ok) tell({ state: 'failed', failure: await refusalOf(reply) })
    else await listen(reply, tell)
  } catch (error) {
    if (call.signal.aborted) tell({ state: 'stopped' })
    else tell({ state: 'failed', failure: failureBy(error) })
  }
}

async function listen(reply: Response, tell: (change: Change) => void): Promise<void> {
  const pieces = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  const read = eventReader()
  let heard = nothingHeard
  for (;;) {
    const next = await pieces?.read()
    if (next === undefined || next.done) break
    heard = read(next.value).reduce(hear, heard)
    const { text, reasoning, calls } = heard
    tell({ text, reasoning, calls, state: 'streaming' })
  }
  const { failure, isWhole } = heard
  if (failure !== null) tell({ state: 'failed', failure })
  else if (isWhole) tell({ state: 'done' })
  else tell({ state: 'failed', failure: { code: 'cut', message: '' } })
}
