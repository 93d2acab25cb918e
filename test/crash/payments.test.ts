// kill -9 of a gateway at every await from an order to its acknowledgement: what was paid is credited once.

import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { engineCases, expectCleanAudit } from '../support/deployment.ts'
import { isLong } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { openShop, type Shop } from '../support/shop.ts'

const folder = makeDirectory()
afterAll(() => folder.remove())

const env = {
  BUN_OPTIONS: `--preload ${join(import.meta.dir, 'payment-kill-points.ts')}`,
  KILL_POINTS: folder.path,
}
const [armed, passed] = [join(folder.path, 'armed'), join(folder.path, 'passed')]

/** `point` empty: it is killed nowhere, and the points are listed. */
function arm(point: string): void {
  writeFileSync(passed, '')
  writeFileSync(armed, point)
}

function disarm(): string[] {
  rmSync(armed, { force: true })
  return readFileSync(passed, 'utf8').trim().split('\n')
}

/** Who is told of the payment: the gateway by its provider, or the provider is asked since the message was lost. */
const flows = [
  { provider: 'alipay', isLost: false },
  { provider: 'wechatpay', isLost: false },
  { provider: 'stripe', isLost: false },
  { provider: 'wechatpay', isLost: true },
] as const
type Flow = (typeof flows)[number]

/** What `npm test` is content with: where an await of a file says this, passed for the last time. */
const brief = [
  /** The order is kept, and nobody has been shown it. */
  ['admin/orders.ts', 'await payments.start(order'],
  /** In the transaction of the credit. */
  ['store/payments.ts', 'await changeOrder('],
  /** The credit is committed, the message not kept. */
  ['payments/payments.ts', 'problem: null })'],
  /** Both are, and the provider is not answered. */
  ['http/control/app.ts', 'await services.refresh()'],
] as const

interface Kill {
  readonly flow: Flow
  readonly point: string
}

/** Each point once, in the first flow that passes it. */
function killsOf(traces: readonly (readonly string[])[]): Kill[] {
  const seen = new Set<string>()
  const all = flows.flatMap((flow, index) =>
    (traces[index] ?? []).flatMap((point) => {
      if (seen.has(point)) return []
      seen.add(point)
      return [{ flow, point }]
    }),
  )
  if (isLong) return all
  return brief.map(([file, text], index) => {
    const flow = flows[index % flows.length] ?? flows[0]
    const lines = readFileSync(join(import.meta.dir, '..', '..', 'src', file), 'utf8').split('\n')
    const at = `${file}:${lines.findIndex((line) => line.includes(text)) + 1}:`
    const point = traces[0]?.findLast((each) => each.startsWith(at))
    if (point === undefined) throw new Error(`${file} has no await with ${text} on the way`)
    return { flow, point }
  })
}

/** What an order and its bonus come to. */
const paidNano = 11_000_000_000n

/** A gateway that is started again when it has been killed. */
class Gateway {
  readonly #shop: Shop
  node: ServerProcess
  deaths = 0
  #isNew = false

  constructor(shop: Shop, node: ServerProcess) {
    this.#shop = shop
    this.node = node
    shop.notified = () => this.node.url
  }

  async #start(): Promise<void> {
    this.node = await this.#shop.deployment.start({ env })
  }

  /** By one that has passed no point yet. Throws where this one had not either. */
  async replace(point: string): Promise<void> {
    if (this.#isNew) throw new Error(`${point} is not passed any more`)
    disarm()
    await this.node.kill()
    await this.#start()
    this.#isNew = true
  }

  async startAgain(): Promise<void> {
    disarm()
    expect(await this.node.exited).toBe(137)
    this.deaths += 1
    this.#isNew = false
    await this.#start()
  }

  /** As clients do: asks again where the connection broke. */
  async ask<Reply>(work: (node: Gateway['node']) => Promise<Reply>): Promise<Reply> {
    try {
      return await work(this.node)
    } catch (error) {
      if (!(error instanceof TypeError) && !isBroken(error)) throw error
      await this.startAgain()
      return work(this.node)
    }
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /Socket|Connection/i.test(String(error.code))
}

let accounts = 0

/** From the order of a new account to the acknowledgement: it is credited once, with its bonus. */
async function sell(shop: Shop, gateway: Gateway, { provider, isLost }: Flow): Promise<void> {
  const account = `ann-${++accounts}`
  const wanted = { provider, account, attempt: account }
  const order = await gateway.ask((node) => shop.order(node, wanted))
  expect(order).toMatchObject({ status: 201, state: 'shown' })
  const { control } = shop.simulator.paysim
  if (isLost) control.misbehave({ lost: true })
  await shop.pay(order)
  if (isLost) await gateway.ask((node) => shop.ask(node, 'POST', `/api/orders/${order.id}/check`))
  else if (control.deliveries().at(-1)?.outcome === 'unreachable') {
    await gateway.startAgain()
    shop.sendAgain()
    await eventually(() => control.deliveries().at(-1)?.outcome === 'acknowledged' || undefined)
  }
  disarm()
  const { state, timeline } = await shop.ask(gateway.node, 'GET', `/api/orders/${order.id}`)
  const credits = timeline.filter(({ what }: { what: string }) => what === 'credited')
  const wallet = await shop.deployment.store.journal.wallet(account)
  expect({ state, credits: credits.length, postedNano: wallet?.postedNano }).toEqual({
    state: 'credited',
    credits: 1,
    postedNano: paidNano,
  })
}

describe.each(engineCases)('kill -9 on the way of a payment on $engine', (engineCase) => {
  test('I15, I17, I20, PS7: it is credited once, whichever await it was killed at', async () => {
    const shop = await openShop(engineCase.databaseUrl)
    try {
      const gateway = new Gateway(shop, await shop.deployment.start({ env }))
      const traces: string[][] = []
      for (const flow of flows) {
        arm('')
        await sell(shop, gateway, flow)
        traces.push(disarm())
      }
      const kills = killsOf(traces)
      for (const [index, { flow, point }] of kills.entries()) {
        // Some are passed by a process once: where it lives on, the next one is killed.
        while (gateway.deaths === index) {
          arm(point)
          await sell(shop, gateway, flow)
          if (gateway.deaths === index) await gateway.replace(point)
        }
      }
      await expectCleanAudit(shop.deployment)
      console.log(`${engineCase.engine}: killed at ${kills.length} awaits`)
    } finally {
      await shop.close()
    }
  }, 900_000)
})
