// Tests a client that leaves after one channel has failed and before the next is asked: nobody is charged, and no other
// vendor is called.

import { expect, test } from 'bun:test'
import type { LimitState } from '../../src/limits/limiter.ts'
import { createLocalLimiter } from '../../src/limits/local.ts'
import { Call } from '../../src/relay/call.ts'
import type { ReplyHandler } from '../../src/vendors/transport.ts'
import { openLine } from '../money/line.ts'

const state: LimitState = (await createLocalLimiter().admit([], 0, 0)).state

test.each(['stop', 'drain'] as const)('policy %s', async (clientLeaves) => {
  const line = openLine({ billing: { clientLeaves } })
  const { rooms } = line.call.attempts
  const [only] = line.call.request.candidates
  const channel = rooms.channels.get('c')
  if (only === undefined || channel === undefined) throw new Error('a call without a channel')
  const asked: ReplyHandler[] = []
  const open = (_: unknown, handler: ReplyHandler) => {
    asked.push(handler)
    return { pause: () => undefined, resume: () => undefined, abort: () => undefined }
  }
  const vendor = { ...channel.vendor, local: { open } }
  const secondMayAsk = Promise.withResolvers<{
    admitted: true
    state: LimitState
    finish(): void
  }>()
  const admitted = { admitted: true, state, finish: () => undefined } as const
  const limiter = {
    ...rooms.limiter,
    admit: () => (asked.length === 0 ? admitted : secondMayAsk.promise),
  }
  const channels = new Map(['c', 'd'].map((id) => [id, { ...channel, id, vendor }]))
  const limits = { requestsPerMinute: 100 }
  const candidates = ['c', 'd'].map((channelId, priority) => ({
    ...only,
    channelId,
    priority,
    limits,
  }))
  const call = new Call({ ...rooms, limiter, channels }, { ...line.call.request, candidates })
  const reply = call.run()
  asked[0]?.head(200, (name) => (name === 'content-type' ? 'text/event-stream' : null))
  asked[0]?.fault({ kind: 'cut', message: 'the connection broke', unsent: false })
  call.clientGone()
  await expect(reply).rejects.toThrow('The client closed the connection.')
  secondMayAsk.resolve(admitted)
  await new Promise(setImmediate)
  expect(asked).toHaveLength(1)
  expect(line.rows).toMatchObject([
    { status: 499, chargeNano: 0n, failedAttempts: [{ channel: 'c', kind: 'cut' }] },
  ])
})
