// Tests the relay's handling of money step by step: a vendor that waits for a grant, and replies whose clients have
// left.

import { describe, expect, test } from 'bun:test'
import { eventually } from '../support/clients.ts'
import { delta, usage } from '../support/upstream.ts'
import { type Line, openLine } from './line.ts'

const frame = (value: object | string) =>
  `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`
const text = (bytes: number) => frame(delta({ content: 'x'.repeat(bytes) }))
const ending =
  frame(delta({}, 'stop')) + frame({ ...delta({}), choices: [], usage }) + frame('[DONE]')
/** The vendor finishes, and closes its side. */
const finish = ({ vendor }: Line) => {
  vendor.send(ending)
  vendor.end()
}
/** Output bytes after which a stream asks again, and the cost of as many tokens. */
const quantum = 1_024
const quantumNano = 256n * 2_000_000n

describe('a stream that outgrows its hold', () => {
  test('lets the vendor wait until the ledger has answered, and asks once meanwhile', async () => {
    const answer = Promise.withResolvers<boolean>()
    const line = openLine({ extend: () => answer.promise })
    line.vendor.head(true)
    line.vendor.send(text(quantum - 1))
    expect([line.vendor.paused, line.asked.length]).toEqual([false, 0])
    line.vendor.send(text(1))
    expect([line.vendor.paused, line.asked.length]).toEqual([true, 1])
    // Data already on its way waits too; its hold is requested when the answer has come.
    line.vendor.send(text(3 * quantum))
    expect([line.vendor.paused, line.asked.length]).toEqual([true, 1])
    expect(line.progress).toHaveLength(0)
    answer.resolve(true)
    await eventually(() => !line.vendor.paused || undefined)
    expect(line.progress).toMatchObject([
      { usageSource: 'counted', input: 10, output: 1_024 },
      { usageSource: 'counted', input: 10, output: 1_024 },
    ])
    expect(line.asked).toHaveLength(2)
    finish(line)
    line.take()
    expect(await line.reply).toEndWith('data: [DONE]\n\n')
    expect(line.rows).toMatchObject([{ usageSource: 'reported', errorCode: null }])
  })

  test('asks for what it owes and a quantum more, each time', async () => {
    const line = openLine()
    line.vendor.head(true)
    for (let at = 0; at < 4; at += 1) line.vendor.send(text(quantum))
    const promptNano = 10n * 1_000_000n
    expect(line.asked).toEqual([
      promptNano + 2n * quantumNano,
      quantumNano,
      quantumNano,
      quantumNano,
    ])
    expect(line.progress.map(({ output }) => output)).toEqual([256, 512, 768, 1_024])
    finish(line)
  })

  test('held back by its client as well, goes on only when both let it', async () => {
    const answer = Promise.withResolvers<boolean>()
    const line = openLine({ extend: () => answer.promise })
    line.vendor.head(true)
    line.vendor.send(text(200_000))
    expect(line.vendor.paused).toBe(true)
    answer.resolve(true)
    await eventually(() => line.progress.length === 1 || undefined)
    expect(line.vendor.paused).toBe(true)
    line.take()
    await eventually(() => !line.vendor.paused || undefined)
    finish(line)
    expect(await line.reply).toEndWith('data: [DONE]\n\n')
  })

  test('is not let go by its client while the ledger has not answered', async () => {
    const answer = Promise.withResolvers<boolean>()
    const line = openLine({ extend: () => answer.promise })
    line.vendor.head(true)
    line.take()
    line.vendor.send(text(200_000))
    // The client has read all of it within this many turns.
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    expect(line.vendor.paused).toBe(true)
    answer.resolve(true)
    await eventually(() => !line.vendor.paused || undefined)
    finish(line)
    await line.reply
  })

  test.each([
    { when: 'at once', extend: () => false },
    { when: 'after a while', extend: () => Promise.resolve(false) },
  ])('refused $when, is stopped: what was delivered is owed, and said', async ({ extend }) => {
    const line = openLine({ extend })
    line.vendor.head(true)
    line.vendor.send(text(400))
    line.vendor.send(text(quantum))
    line.take()
    const reply = await line.reply
    // Nothing was delivered that was not paid for.
    expect(reply.match(/x{400,}/g)).toEqual(['x'.repeat(400)])
    expect(reply).toContain('"code":"insufficient_quota"')
    expect(reply).not.toContain('[DONE]')
    expect(line.vendor.aborted).toBe(true)
    expect(line.rows).toMatchObject([
      { status: 200, errorCode: 'insufficient_quota', output: 100, usageSource: 'counted' },
    ])
  })

  test('whose end comes before the answer ends when it is granted, and is stopped when it is not', async () => {
    for (const granted of [true, false]) {
      const answer = Promise.withResolvers<boolean>()
      const line = openLine({ extend: () => answer.promise })
      line.vendor.head(true)
      line.vendor.send(text(quantum) + ending)
      line.vendor.end()
      expect(line.rows).toHaveLength(0)
      answer.resolve(granted)
      line.take()
      const reply = await line.reply
      expect(reply.includes('xxx')).toBe(granted)
      if (granted) expect(reply).toEndWith('data: [DONE]\n\n')
      const [row] = line.rows
      expect([row?.errorCode, row?.usageSource]).toEqual(
        granted ? [null, 'reported'] : ['insufficient_quota', 'counted'],
      )
    }
  })
})

const left = { status: 499, errorCode: 'client_closed_request' }

describe('a client that has left, policy drain', () => {
  const drain = { billing: { clientLeaves: 'drain' } } as const

  test('a vendor that never ends is let go after the limit, and what came is counted', async () => {
    const drains = { running: 0, most: 64, limitMs: 120 }
    const line = openLine({ ...drain, drains })
    line.vendor.head(true)
    line.vendor.send(text(40))
    line.call.clientGone()
    expect([drains.running, line.vendor.aborted, line.rows.length]).toEqual([1, false, 0])
    line.vendor.send(text(40))
    await eventually(() => line.vendor.aborted || undefined)
    expect(line.rows).toMatchObject([{ ...left, usageSource: 'counted', input: 10, output: 20 }])
    expect(drains.running).toBe(0)
    line.take()
    await expect(line.reply).rejects.toThrow()
  })

  test('no more of them at once than are allowed: one more is let go at once', () => {
    const drains = { running: 0, most: 64, limitMs: 30_000 }
    const lines = Array.from({ length: 65 }, () => openLine({ ...drain, drains }))
    for (const { vendor, call } of lines) {
      vendor.head(true)
      vendor.send(text(40))
      call.clientGone()
    }
    expect(drains.running).toBe(64)
    expect(lines.filter(({ vendor }) => vendor.aborted)).toEqual(lines.slice(64))
    expect(lines[64]?.rows).toMatchObject([{ ...left, usageSource: 'counted', output: 10 }])
    for (const line of lines.slice(0, 64)) finish(line)
    expect(drains.running).toBe(0)
    for (const { rows } of lines.slice(0, 64))
      expect(rows).toMatchObject([{ ...left, usageSource: 'drained', input: 7, output: 5 }])
  })

  test('a whole reply is heard to its end too', () => {
    const line = openLine({ ...drain, stream: false })
    line.vendor.head(false)
    line.vendor.send('{"id":"c","object":"chat.completion","model":"served","choices":[{"index":0,')
    line.call.clientGone()
    line.vendor.send(
      `"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":${JSON.stringify(usage)}}`,
    )
    line.vendor.end()
    expect(line.rows).toMatchObject([{ ...left, usageSource: 'drained', input: 7, output: 5 }])
  })

  test('one that the account cannot pay any further is let go', () => {
    const line = openLine({ ...drain, extend: () => false })
    line.vendor.head(true)
    line.vendor.send(text(40))
    line.call.clientGone()
    line.vendor.send(text(quantum))
    expect(line.vendor.aborted).toBe(true)
    expect(line.rows).toMatchObject([{ ...left, usageSource: 'counted', output: 10 }])
  })

  test('leaving twice, or after the end, changes nothing', () => {
    const line = openLine(drain)
    line.vendor.head(true)
    line.vendor.send(text(40))
    line.call.clientGone()
    line.call.clientGone()
    finish(line)
    line.call.clientGone()
    expect(line.rows).toHaveLength(1)
  })
})
