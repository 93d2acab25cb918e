// Tests kill -9 of a gateway at every await from an order to its acknowledgement, and to its refund: each happens once.

import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { eventually } from '../support/clients.ts'
import { type EngineCase, engineCases, expectCleanAudit } from '../support/deployment.ts'
import { repetitions } from '../support/long.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { openShop, type Shop } from '../support/shop.ts'

const folder = makeDirectory()
afterAll(() => folder.remove())

const env = {
  BUN_OPTIONS: `--preload ${join(import.meta.dir, 'payment-kill-points.ts')}`,
  KILL_POINTS: folder.path,
}
const [armed, passed] = [join(folder.path, 'armed'), join(folder.path, 'passed')]

/** If `point` is empty, it is killed nowhere, and the points are listed. */
function arm(point: string): void {
  writeFileSync(passed, '')
  writeFileSync(armed, point)
}

function disarm(): string[] {
  rmSync(armed, { force: true })
  return readFileSync(passed, 'utf8').trim().split('\n')
}

interface Flow {
  readonly provider: 'alipay' | 'wechatpay' | 'stripe'
  /** The provider's message is lost: the customer has the provider queried. */
  readonly isLost?: true
  readonly isRefunded?: true
  /**
   * The points of `npm test`: the last time that this flow passes the await of this file whose line contains this text.
   */
  readonly brief: readonly [file: string, text: string]
}

const flows: readonly Flow[] = [
  // The order is stored, and nobody has seen it yet.
  { provider: 'alipay', brief: ['admin/orders.ts', 'await payments.start(order'] },
  // The credit is committed, the message is not stored.
  { provider: 'wechatpay', brief: ['payments/payments.ts', 'problem: null })'] },
  // Both are, and the provider has no answer yet.
  { provider: 'stripe', brief: ['http/control/app.ts', 'await services.refresh()'] },
  // In the transaction of the credit.
  { provider: 'wechatpay', isLost: true, brief: ['store/payments.ts', 'await changeOrder('] },
  // The provider has refunded it, and that is not stored.
  {
    provider: 'alipay',
    isRefunded: true,
    brief: ['payments/payments.ts', "if (how === 'done') await"],
  },
]

interface Kill {
  readonly flow: Flow
  readonly point: string
}

/**
 * Each point once, in the first flow that passes it; a few of them in `npm test`, a part at length, all with
 * `TEST_EVERY_AWAIT=1`.
 */
function killsOf(engine: EngineCase['engine'], traces: readonly (readonly string[])[]): Kill[] {
  const seen = new Set<string>()
  const all = flows.flatMap((flow, index) =>
    (traces[index] ?? []).flatMap((point) => {
      if (seen.has(point)) return []
      seen.add(point)
      return [{ flow, point }]
    }),
  )
  // The awaits are the same on both engines. Testing all of them takes a quarter of an hour.
  const part = engine === 'sqlite' ? 6 : 18
  const each = Bun.env['TEST_EVERY_AWAIT'] === '1' ? 1 : repetitions(part, part, 2 * part)
  if (repetitions(false, true)) return all.filter((_, index) => index % each === 0)
  return flows.map((flow, index) => {
    const [file, text] = flow.brief
    const lines = readFileSync(join(import.meta.dir, '..', '..', 'src', file), 'utf8').split('\n')
    const at = `${file}:${lines.findIndex((line) => line.includes(text)) + 1}:`
    const point = traces[index]?.findLast((each) => each.startsWith(at))
    if (point === undefined) throw new Error(`${file} has no await with ${text} on the way`)
    return { flow, point }
  })
}

/** The amounts of an order and its bonus. */
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

  /** Calls a gateway that has passed no point yet. Throws if that also had. */
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

  /** Sends again if the connection broke, as clients do. */
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
async function sell(shop: Shop, gateway: Gateway, flow: Flow): Promise<void> {
  const { provider, isLost, isRefunded } = flow
  const account = `ann-${++accounts}`
  const wanted = { provider, account, attempt: account }
  const order = await gateway.ask((node) => shop.order(node, wanted))
  expect(order).toMatchObject({ status: 201, state: 'shown' })
  const { control } = shop.simulator.paysim
  const lastOutcome = () =>
    control.deliveries().findLast(({ orderId }) => orderId === order.id)?.outcome
  if (isLost) control.misbehave({ lost: true })
  await shop.pay(order)
  if (isLost) await gateway.ask((node) => shop.ask(node, 'POST', `/api/orders/${order.id}/check`))
  else if (lastOutcome() === 'unreachable') {
    await gateway.startAgain()
    shop.sendAgain()
    await eventually(() => lastOutcome() === 'acknowledged' || undefined)
  }
  if (isRefunded) await refund(shop, gateway, order)
  disarm()
  // The provider also sends a message about its refund: the kill may have happened at that.
  const path = `/api/orders/${order.id}`
  const { state, timeline } = await gateway.ask((node) => shop.ask(node, 'GET', path))
  const credits = timeline.filter(({ what }: { what: string }) => what === 'credited')
  const wallet = await shop.deployment.store.journal.wallet(account)
  expect({ state, credits: credits.length, postedNano: wallet?.postedNano }).toEqual({
    state: isRefunded ? 'refunded' : 'credited',
    credits: 1,
    postedNano: isRefunded ? 0n : paidNano,
  })
}

/** The full refund, repeated with the same name if the connection broke. */
async function refund(
  shop: Shop,
  gateway: Gateway,
  { id, account }: { readonly id: string; readonly account: string },
): Promise<void> {
  const body = { reason: 'asked for', refund: account }
  const path = `/api/orders/${id}/refund`
  const refunded = await gateway.ask((node) => shop.ask(node, 'POST', path, body))
  expect(refunded).toMatchObject({ status: 200, state: 'done', failure: null })
  const payment = shop.simulator.paysim.control.payments().find(({ orderId }) => orderId === id)
  expect(payment?.refunds.map(({ amountMinor }) => amountMinor)).toEqual([1_000])
}

describe.each(engineCases)('kill -9 on the way of a payment on $engine', (engineCase) => {
  test('I15, I17, I20, PS7: it is credited once and refunded once, whichever await it was killed at', async () => {
    const shop = await openShop(engineCase.databaseUrl)
    try {
      const gateway = new Gateway(shop, await shop.deployment.start({ env }))
      const traces: string[][] = []
      for (const flow of flows) {
        arm('')
        await sell(shop, gateway, flow)
        traces.push(disarm())
      }
      const kills = killsOf(engineCase.engine, traces)
      for (const [index, { flow, point }] of kills.entries()) {
        // A process passes some of them once: if it survives, the next one is killed.
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
  }, 1_800_000)
})
