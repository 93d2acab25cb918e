// Long replies: files of any size, and server-sent events of requests as they end.

import { type Followed, followRequests, type Owned } from '../../admin/usage.ts'
import { AdminError } from '../../admin/use-case.ts'
import type { ControlPrincipal } from '../../identity/principal.ts'
import type { SettledPlace } from '../../store/usage-filter.ts'
import { roleOf } from './access.ts'
import { authenticateControl } from './authenticate.ts'
import { ControlError } from './problem.ts'
import type { ControlRequest } from './route.ts'
import { asViewed } from './view-as.ts'

/**
 * Sends pieces as fast as the client takes them; `left` is called where it leaves before the end. An error before the
 * first piece rejects; a later one breaks the connection off.
 */
export async function textStream(
  pieces: AsyncGenerator<string, void>,
  headers: Readonly<Record<string, string>>,
  left?: () => void,
): Promise<Response> {
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<string, void>> | null = Promise.resolve(await pieces.next())
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await (next ?? pieces.next())
      next = null
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      left?.()
      await pieces.return()
    },
  })
  return new Response(body, { headers })
}

const mostFollowers = 64
/** The others are kept for operators: anybody may be able to make accounts. */
const mostOfUsers = 48
/** Most streams of one account, so that it cannot take all of the process's. */
const mostOfOne = 8
const pollMs = 500
/** How often the caller's access is checked again: one who signs out or is suspended gets no more events after this. */
const recheckMs = 500
const heartbeatMs = 5_000

interface Follower {
  /** The account, or the management key that is bound to none. */
  readonly name: string
  readonly isOperator: boolean
}

/** An entry for each stream of this process. */
const followers = new Set<Follower>()

const eventStream = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

type Asking = Pick<
  ControlRequest<object, object, object>,
  'request' | 'admin' | 'services' | 'principal'
>
type Search = Parameters<typeof followRequests>[1]

/** The events since the last call, as text, and whether more are waiting to be read. */
type Poll = () => Promise<{ readonly text: string; readonly more: boolean }>

/** The events after a place in the list, and the place behind them. */
interface Part {
  readonly text: string
  readonly place: SettledPlace
}

/**
 * Reads in progress by search and place: clients that follow the same list share each read, since all poll at the same
 * moments.
 */
const parts = new WeakMap<Asking['admin']['store'], Map<string, Promise<Part>>>()

/** What every route that follows documents beside its usual statuses. */
export const followStatuses: Readonly<Record<number, string>> = {
  429: 'Too many streams are open: at most 8 for each account, and 64 in each process, of which 16 are for operators',
}

/** Follows a list of requests. Throws ControlError `limited`, AdminError. */
export async function followedEvents(asked: Asking, search: Search & Owned): Promise<Response> {
  const after = lastEventOf(asked.request.headers)
  return streamEvents(asked, () => openTail(asked.admin, search, after))
}

/** Polls until the client leaves. Throws ControlError `limited`, and what `open` throws. */
export async function streamEvents(asked: Asking, open: () => Promise<Poll>): Promise<Response> {
  if (asked.request.method === 'HEAD') return new Response(null, { headers: eventStream })
  const closed = new AbortController()
  const end = AbortSignal.any([closed.signal, asked.request.signal])
  const follower = enter(asked.principal)
  try {
    const pieces = events({ ...asked, end }, await open(), () => followers.delete(follower))
    return await textStream(pieces, eventStream, () => closed.abort())
  } catch (error) {
    followers.delete(follower)
    throw error
  }
}

async function openTail(
  admin: Asking['admin'],
  search: Search & Owned,
  after: SettledPlace | null,
): Promise<Poll> {
  let part = await readPart(admin, search, after)
  let isRead = true
  return async () => {
    if (!isRead) part = await sharedPart(admin, search, part.place)
    isRead = false
    return { text: part.text, more: part.text !== '' }
  }
}

async function readPart(
  admin: Asking['admin'],
  search: Search & Owned,
  after: SettledPlace | null,
): Promise<Part> {
  const followed = await followRequests(admin, search, after)
  return { text: textOf(followed), place: followed.place }
}

function sharedPart(
  admin: Asking['admin'],
  search: Search & Owned,
  after: SettledPlace,
): Promise<Part> {
  const own = parts.get(admin.store) ?? new Map<string, Promise<Part>>()
  parts.set(admin.store, own)
  const key = JSON.stringify([search, after], (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const known = own.get(key)
  if (known !== undefined) return known
  const part = readPart(admin, search, after)
  own.set(key, part)
  setTimeout(() => own.delete(key), pollMs / 2)
  return part
}

function enter(principal: ControlPrincipal | null): Follower {
  const name =
    principal?.account ?? (principal?.kind === 'management' ? `key ${principal.keyId}` : '')
  const follower = { name, isOperator: principal !== null && roleOf(principal) !== 'user' }
  const all = [...followers]
  const own = all.filter((each) => each.name === name).length
  const ofUsers = all.filter(({ isOperator }) => !isOperator).length
  const isFull = all.length >= mostFollowers || (!follower.isOperator && ofUsers >= mostOfUsers)
  if (own >= mostOfOne || isFull)
    throw new ControlError('limited', 'Too many streams are open; close another one first.')
  followers.add(follower)
  return follower
}

async function* events(
  { request, services, principal, end }: Asking & { readonly end: AbortSignal },
  poll: Poll,
  left: () => void,
): AsyncGenerator<string, void> {
  try {
    yield ': following\n\n'
    let quietMs = 0
    let checkedMs = performance.now()
    while (!end.aborted && !services.load.draining) {
      const { text, more } = await poll()
      if (text !== '') yield text
      quietMs = text === '' ? quietMs + pollMs : 0
      if (quietMs >= heartbeatMs) {
        quietMs = 0
        yield ': still here\n\n'
      }
      // Where events were read, more may be waiting.
      if (!more) await pause(end)
      if (performance.now() - checkedMs >= recheckMs) {
        if (!(await isStill(principal, request, services))) return
        checkedMs = performance.now()
      }
    }
  } finally {
    left()
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    // All streams poll at the same moments, so that they can share what they read.
    const timer = setTimeout(done, pollMs - (performance.now() % pollMs))
    signal.addEventListener('abort', done)
  })
}

/** Whether the caller is still the same, with the same rights. */
async function isStill(
  before: ControlPrincipal | null,
  request: Request,
  services: Asking['services'],
): Promise<boolean> {
  try {
    const now = asViewed(await authenticateControl(request, services), request)
    if (now === null || before === null) return false
    return now.account === before.account && roleOf(now) === roleOf(before)
  } catch (error) {
    if (error instanceof ControlError) return false
    throw error
  }
}

function textOf({ requests, missed }: Followed): string {
  const lost = missed ? 'event: missed\ndata: {}\n\n' : ''
  const rows = requests.map(
    ({ place, request }) =>
      `id: ${place.number}.${place.index}\nevent: request\ndata: ${JSON.stringify(request)}\n\n`,
  )
  return lost + rows.join('')
}

/** The place to continue after; null: only new events are sent. Throws AdminError. */
function lastEventOf(headers: Headers): SettledPlace | null {
  const shown = headers.get('last-event-id')
  if (shown === null || shown === '') return null
  const [, number, index] = /^(\d{1,15})\.(\d{1,9})$/.exec(shown) ?? []
  if (number === undefined || index === undefined) {
    throw new AdminError('invalid', 'Last-Event-ID', 'is not the id of an event of this path')
  }
  return { number: Number(number), index: Number(index) }
}
