// Applies the fault that a sandbox model's name asks for to a reply.

import type { TransportFault } from '../transport.ts'
import { done, type Reply, refusal } from './reply.ts'
import type { SandboxFault, SandboxSettings } from './settings.ts'

function broken(kind: TransportFault['kind'], message: string): TransportFault {
  return { kind, message: `sandbox fault: ${message}`, unsent: kind === 'unreachable' }
}

export const cut = broken('cut', 'the connection was cut in the middle of the reply')

const refusals: ReadonlyMap<string, () => Reply> = new Map(
  Object.entries({
    '400': () => error(400, 'The request is refused', 'invalid_request_error', 'sandbox_refused'),
    '401': () => error(401, 'The key is refused', 'invalid_request_error', 'invalid_api_key'),
    '403': () =>
      error(403, 'The key may not do this', 'invalid_request_error', 'permission_denied'),
    '404': () => error(404, 'The model is unknown', 'invalid_request_error', 'model_not_found'),
    '429': () =>
      error(429, 'Too many requests', 'requests', 'rate_limit_exceeded', { 'retry-after': '1' }),
    '500': () => error(500, 'The vendor failed', 'server_error', 'server_error'),
    '503': () =>
      error(503, 'The vendor is overloaded', 'server_error', 'overloaded', { 'retry-after': '1' }),
    quota: () => error(429, 'The account is used up', 'insufficient_quota', 'insufficient_quota'),
  }),
)

function error(
  status: number,
  text: string,
  type: string,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return refusal(status, { message: `${text} (sandbox fault).`, type, param: null, code }, headers)
}

function headless(reply: Reply, close: Reply['close']): Reply {
  return { ...reply, headless: true, steps: 0, close }
}

/** Sends only the first `after` events; of a whole body, the first half. */
function truncated(reply: Reply, after: number, streamed: boolean, close: Reply['close']): Reply {
  if (streamed) return { ...reply, steps: Math.min(after, reply.steps - 1), close }
  const half = (): string => {
    const body = reply.step(0)
    return body.slice(0, body.length >> 1)
  }
  return { ...reply, step: half, close }
}

function followedBy(reply: Reply, after: number, text: string): Reply {
  const steps = Math.min(after, reply.steps - 1)
  return { ...reply, steps: steps + 1, step: (index) => (index < steps ? reply.step(index) : text) }
}

export const errorBody = JSON.stringify({
  error: {
    message: 'The vendor failed (sandbox fault).',
    type: 'server_error',
    param: null,
    code: 'server_error',
  },
})

/** Faults that occur before any reply, by name. */
export const unanswered = {
  unreachable: broken('unreachable', 'nobody listens'),
  reset: broken('reset', 'the connection was reset before a reply'),
} as const

/** The error reply that replaces any other; null where the fault is none of these. */
export function refusalOf(fault: SandboxFault): Reply | null {
  return refusals.get(fault)?.() ?? null
}

/** The reply changed by the fault; the same reply where there is none. */
export function spoiled(reply: Reply, settings: SandboxSettings, streamed: boolean): Reply {
  const { fault, after } = settings
  if (fault === null) return reply
  const refused = refusalOf(fault)
  if (refused !== null) return refused
  switch (fault) {
    case 'unreachable':
    case 'reset':
      return headless(reply, unanswered[fault])
    case 'hang':
      return headless(reply, 'never')
    case 'empty':
      return { ...reply, steps: 0 }
    case 'stall':
      return truncated(reply, after, streamed, 'never')
    case 'cut':
      return truncated(reply, after, streamed, cut)
    case 'invalid':
      return streamed
        ? followedBy(reply, after, `data: {"choices":[{"delta":\n\n${done}`)
        : { ...reply, step: () => '<html>not JSON</html>' }
    case 'error-event':
      return streamed
        ? followedBy(reply, after, `data: ${errorBody}\n\n`)
        : { ...reply, step: () => errorBody }
    case 'split':
      return { ...reply, split: true }
    case 'no-done':
      return { ...reply, step: (index) => reply.step(index).replace(done, '') }
    default:
      return reply
  }
}
