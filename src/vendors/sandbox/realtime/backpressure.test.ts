// Tests that a sandbox session whose answers are not taken says how much waits, as one over a slow network does.

import { expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import { eventually } from '../../../../test/support/clients.ts'
import type { VendorSocket } from '../../transport.ts'
import { connectSandbox } from './socket.ts'

test('what is not taken from it counts as waiting', async () => {
  const types: string[] = []
  const socket = await new Promise<VendorSocket>((open, reject) =>
    connectSandbox(
      { model: 'sandbox/realtime', answerMs: 1_000 },
      { open, refused: reject, fault: reject },
    ),
  )
  socket.start({
    message: (payload) => types.push(JSON.parse(payload.toString()).type),
    closed: () => undefined,
  })
  await eventually(() => types.includes('session.created') || undefined)
  socket.pause()
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }
  const event = Buffer.from(JSON.stringify({ type: 'conversation.item.create', item }))
  for (let at = 0; at < 5; at++) socket.send(event, true)
  expect(socket.waitingBytes).toBe(5 * event.length)
  socket.resume()
  await eventually(() => socket.waitingBytes === 0 || undefined)
  expect(types.filter((type) => type === 'conversation.item.done')).toHaveLength(5)
  socket.abort()
})
