// Tests several nodes on one PostgreSQL: whichever of them gets the message of a payment, it is credited once and all
// of them show it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectCleanAudit, postgresCases } from '../support/deployment.ts'
import { isLong } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { openShop, type Shop } from '../support/shop.ts'

const nodeCount = 3
const copies = 100
const queries = 20
const unitNano = 1_000_000_000n

describe.each(postgresCases)('three nodes on $engine', ({ databaseUrl }) => {
  let shop: Shop
  let nodes: ServerProcess[]
  let turn = 0
  beforeAll(async () => {
    shop = await openShop(databaseUrl)
    const starts = Array.from({ length: nodeCount }, (_, node) => shop.deployment.start({ node }))
    nodes = await Promise.all(starts)
  }, 60_000)
  afterAll(() => shop.close())

  function nodeAt(index: number): ServerProcess {
    const node = nodes[index % nodeCount]
    if (node === undefined) throw new Error('no node')
    return node
  }
  test('PS2, I15, I18: 100 copies of one notification and 20 queries at all of them credit once', async () => {
    const wanted = { provider: 'alipay', account: 'ann', attempt: 'copies' } as const
    const order = await shop.order(nodeAt(0), wanted)
    const { control } = shop.simulator.paysim
    control.misbehave({ repeated: copies })
    const asked: ReturnType<Shop['ask']>[] = []
    shop.notified = () => {
      turn += 1
      // Among the copies, not before or after them.
      if (turn % (copies / queries) === 0)
        asked.push(shop.ask(nodeAt(asked.length), 'POST', `/api/orders/${order.id}/check`))
      return nodeAt(turn).url
    }
    await shop.pay(order)
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses).toEqual(Array(queries).fill(200))
    const sent = control.deliveries().filter(({ orderId }) => orderId === order.id)
    expect(sent.map(({ outcome }) => outcome)).toEqual(Array(copies).fill('acknowledged'))
    const wallet = await shop.deployment.store.journal.wallet('ann')
    expect(wallet?.postedNano).toBe(11n * unitNano)
    const { timeline } = await shop.ask(nodeAt(1), 'GET', `/api/orders/${order.id}`)
    const what = timeline.map((entry: { readonly what: string }) => entry.what)
    expect(what.sort()).toEqual(['created', 'credited', 'notified', 'shown'])
    await expectCleanAudit(shop.deployment)
  }, 60_000)

  test('PS1: who follows an order at one node hears of its payment at another within two seconds', async () => {
    for (const provider of ['wechatpay', 'stripe'] as const) {
      const order = await shop.order(nodeAt(0), { provider, account: 'bob', attempt: provider })
      const events = eventsOf(await shop.follow(nodeAt(0), order.id))
      expect(await events.next()).toMatchObject({ id: order.id, state: 'shown' })
      shop.notified = () => nodeAt(1).url
      const paidAt = performance.now()
      await shop.pay(order)
      expect(await events.next()).toMatchObject({ id: order.id, state: 'credited', pay: null })
      const elapsedMs = performance.now() - paidAt
      if (isLong) expect(elapsedMs).toBeLessThan(2_000)
      await events.close()
    }
  }, 60_000)

  test('PS7, I20: and while one of them is killed with copies under way', async () => {
    const wanted = { provider: 'wechatpay', account: 'cyd', attempt: 'killed' } as const
    const order = await shop.order(nodeAt(0), wanted)
    const { control } = shop.simulator.paysim
    control.misbehave({ repeated: copies })
    let killed: Promise<void> | null = null
    turn = 0
    shop.notified = () => {
      turn += 1
      if (turn === copies / 2) killed = nodeAt(2).kill()
      return nodeAt(turn).url
    }
    await shop.pay(order)
    await killed
    const sent = control.deliveries().filter(({ orderId }) => orderId === order.id)
    expect(sent.filter(({ outcome }) => outcome === 'unreachable').length).toBeGreaterThan(0)
    expect(sent.filter(({ outcome }) => outcome === 'refused')).toEqual([])
    const wallet = await shop.deployment.store.journal.wallet('cyd')
    expect(wallet?.postedNano).toBe(11n * unitNano)
    await expectCleanAudit(shop.deployment)
  }, 60_000)
})

/** The contents of the events `order`, one after another. */
function eventsOf(reply: Response) {
  const reader = (reply.body ?? new Blob().stream()).getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    async next() {
      for (;;) {
        const [, event, rest] = /event: order\ndata: (.*)\n\n([^]*)/.exec(text) ?? []
        if (event !== undefined) {
          text = rest ?? ''
          return JSON.parse(event)
        }
        const { done, value } = await reader.read()
        if (done) throw new Error(`the events ended with ${text}`)
        text += decoder.decode(value, { stream: true })
      }
    },
    close: () => reader.cancel(),
  }
}
