// Ten thousand clients that leave: nothing of them stays in the gateway, and each vendor is let go at once.

import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { testKey } from '../support/gateway.ts'
import { onStage, type Scene } from '../support/scene.ts'
import { delta, event, hang, type Received, send, sseHead, words } from '../support/upstream.ts'

const batch = 250
const early = 2_000
const all = 10_000
const mebibyte = 1 << 20

/** Where a client leaves: before the reply's head, after its first event, with many unread. */
const stages = ['silent', 'begun', 'unread'] as const

/** One client on a socket of its own; resolves when it has left, with when that was. */
function leave(port: number, n: number, arrived: Map<number, () => void>): Promise<number> {
  const stage = stages[n % stages.length] ?? 'begun'
  const body = JSON.stringify({
    model: `m-${stage}`,
    messages: [{ role: 'user', content: 'Tell a long story.' }],
    stream: true,
    user: `n-${n}.`,
  })
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1')
    const go = () => {
      const leftMs = performance.now()
      socket.destroy()
      done(leftMs)
    }
    socket.on('error', fail)
    socket.on('connect', () =>
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${testKey}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    )
    if (stage === 'silent') arrived.set(n, go)
    else socket.on('data', (bytes) => bytes.includes('once upon') && go())
  })
}

const numberOf = (request: Received) =>
  Number(/"user":"n-(\d+)\."/.exec(request.body.toString('latin1'))?.[1])

/** Runs clients `from` to `to`, a few hundred at a time; gives how long each vendor call outlived its client. */
async function leaveAll(scene: Scene, from: number, to: number): Promise<number[]> {
  const port = Number(new URL(scene.gateway.url).port)
  const arrived = new Map<number, () => void>()
  scene.first.on('m-silent', [({ request }) => arrived.get(numberOf(request))?.(), hang])
  const outlived: number[] = []
  for (let at = from; at < to; at += batch) {
    const seen = scene.first.requests.length
    const left = await Promise.all(
      Array.from({ length: batch }, (_, n) => leave(port, at + n, arrived)),
    )
    for (const request of scene.first.requests.slice(seen)) {
      await request.gone
      outlived.push((request.goneMs ?? Number.NaN) - (left[numberOf(request) - at] ?? Number.NaN))
    }
  }
  return outlived
}

test('10,000 aborted streams leave sockets and memory where they were, each vendor let go within 100 ms', async () => {
  await onStage({ alone: true }, async (scene) => {
    const { gateway, first } = scene
    const opening = [send(sseHead), send(event(delta({ role: 'assistant' })))]
    first.on('m-begun', [...opening, send(words('once upon')), hang])
    first.on('m-unread', [
      ...opening,
      send(words('once upon', ...Array.from({ length: 200 }, () => ' a time'.repeat(20)))),
      hang,
    ])
    await scene.chat()
    const sockets = gateway.sockets()
    const outlived = await leaveAll(scene, 0, early)
    const earlyBytes = gateway.rss()
    outlived.push(...(await leaveAll(scene, early, all)))
    const lateBytes = gateway.rss()

    expect(outlived).toHaveLength(all)
    outlived.sort((a, b) => a - b)
    const [median, p99, longest] = [0.5, 0.99, 1].map(
      (share) => outlived[Math.ceil(all * share) - 1] ?? Number.NaN,
    )
    const grown = (lateBytes - earlyBytes) / mebibyte
    console.log(
      `vendor let go after the client left: median ${median?.toFixed(1)} ms, p99 ${p99?.toFixed(1)} ms, ` +
        `longest ${longest?.toFixed(1)} ms; memory ${(earlyBytes / mebibyte).toFixed(0)} MiB after ${early}, ` +
        `${(lateBytes / mebibyte).toFixed(0)} MiB after ${all}`,
    )
    expect(p99).toBeLessThan(100)
    expect(grown).toBeLessThan(16)
    // The kept connection of the first call, and nothing of those who left.
    expect(first.open).toBe(1)
    expect(gateway.sockets()).toBeLessThanOrEqual(sockets)
    await recorded(scene)
    expect((await scene.chat()).content).toBe('Hello')
  })
}, 120_000)

/** Every request has its record, as one whose client left. */
async function recorded(scene: Scene): Promise<void> {
  const deadline = performance.now() + 5_000
  for (;;) {
    const rows = await scene.gateway.usage()
    if (rows.length === all + 1 || performance.now() > deadline) {
      const left = rows.filter(({ status }) => status === 499)
      expect(left).toHaveLength(all)
      expect(new Set(left.map(({ errorCode }) => errorCode))).toEqual(
        new Set(['client_closed_request']),
      )
      return
    }
  }
}
