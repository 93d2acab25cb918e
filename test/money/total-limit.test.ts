// Tests the limit on a whole request: whatever it is waiting for, its stream ends, its record is closed and its hold
// released.

import { describe, expect, spyOn, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { delta, usage } from '../support/upstream.ts'
import { type Line, type LineOptions, openLine } from './line.ts'

const frame = (value: object | string) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const text = (bytes: number) => frame(delta({ content: 'x'.repeat(bytes) }))
const finish = frame(delta({}, 'stop'))
const ending = finish + frame({ ...delta({}), choices: [], usage }) + frame('[DONE]')
const never = () => new Promise<boolean>(() => undefined)
const timeouts = { totalMs: 150 }

async function expectEnded(line: Line): Promise<string> {
  line.take()
  const reply = await line.reply
  const events = reply.split('\n\n').filter((event) => event !== '')
  expect(events.at(-1)).toStartWith('data: {"error":{"message":"The stream ended early: ')
  expect(reply).not.toContain('[DONE]')
  expect(line.rows).toMatchObject([
    {
      status: 200,
      errorCode: 'service_unavailable',
      errorCause: 'the vendor did not answer in time',
    },
  ])
  return reply
}

const open = (options: LineOptions) => openLine({ timeouts, ...options })

describe('totalMs ends a stream', () => {
  test('while the ledger has not answered, with the error behind what was paid for', async () => {
    const line = open({ extend: never })
    line.vendor.head(true)
    line.vendor.send(text(100))
    line.vendor.send(text(2_000))
    expect(line.asked).toHaveLength(1)
    const reply = await expectEnded(line)
    expect(reply.match(/x{9,}/g)?.map(({ length }) => length)).toEqual([100])
    expect(line.rows).toMatchObject([{ usageSource: 'counted', output: 25 }])
    expect(line.vendor.aborted).toBe(true)
  })

  test('whose vendor has ended it, while the ledger has not answered', async () => {
    const line = open({ extend: never })
    line.vendor.head(true)
    line.vendor.send(text(100))
    line.vendor.send(text(2_000) + ending)
    line.vendor.end()
    await expectEnded(line)
  })

  test('whose client takes nothing', async () => {
    const line = open({})
    line.vendor.head(true)
    line.vendor.send(text(200_000))
    expect(line.vendor.paused).toBe(true)
    await eventually(() => line.rows.length > 0 || undefined)
    expect(line.vendor.aborted).toBe(true)
    const reply = await expectEnded(line)
    expect(reply).toContain('x'.repeat(200_000))
  })

  test('whose vendor never stops, and finishes again and again', async () => {
    const line = open({})
    line.vendor.head(true)
    line.vendor.send(text(10))
    const timer = setInterval(() => line.vendor.send(finish), 10)
    await expectEnded(line)
    clearInterval(timer)
    expect(line.vendor.aborted).toBe(true)
  })
})

test('a stream that waits for the ledger ends in an error when the gateway stops', async () => {
  const line = openLine({ extend: never })
  line.vendor.head(true)
  line.vendor.send(text(100))
  line.vendor.send(text(2_000))
  line.call.shutDown()
  line.take()
  expect(await line.reply).toEndWith(
    'data: {"error":{"message":"The gateway is restarting.","type":"service_unavailable","param":null,"code":"service_unavailable"}}\n\n',
  )
  expect(line.rows).toMatchObject([{ errorCode: 'service_unavailable' }])
})

test('a reply that is complete ends well a moment later, whatever its vendor goes on to send', async () => {
  const line = openLine()
  line.vendor.head(true)
  line.vendor.send(text(10) + finish + frame({ ...delta({}), choices: [], usage }))
  const timer = setInterval(() => line.vendor.send(': still here\n\n'), 10)
  line.take()
  expect(await line.reply).toEndWith('data: [DONE]\n\n')
  clearInterval(timer)
  expect(line.rows).toMatchObject([{ errorCode: null, usageSource: 'reported' }])
  expect(line.vendor.aborted).toBe(true)
})

test('a mistake in the record breaks the reply off, and does not leave its client waiting', async () => {
  const reported = spyOn(globalThis, 'reportError').mockImplementation(() => undefined)
  const line = openLine({ fails: true })
  line.vendor.head(true)
  line.vendor.send(text(10) + ending)
  line.take()
  await expect(line.reply).rejects.toThrow('failed to handle')
  expect(reported).toHaveBeenCalledTimes(1)
  reported.mockRestore()
})
