// Tests automatic top-up with the simulator's Stripe: agreed to, once for each crossing, within its month, and off
// after a refusal.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adjustBalance } from '../../src/admin/accounts.ts'
import { topUpAccounts } from '../../src/admin/auto-top-up-run.ts'
import { testDatabaseUrl } from '../contract/databases.ts'
import { adminOf } from '../support/admin.ts'
import { person } from '../support/control.ts'
import { unit } from '../support/payments.ts'
import { type Around, type PaymentScene, startPaymentScene } from './scene.ts'

const path = '/api/billing/auto-top-up'
const rule = { thresholdNano: String(5n * unit), amount: '20.00', monthMost: '50.00' }
const minuteMs = 60_000
const engines = [null, ...(testDatabaseUrl === null ? [] : [testDatabaseUrl])]
const plain: Around = (call) => call()

class Died extends Error {}

describe.each(engines)('automatic top-up on %p', (databaseUrl) => {
  let scene: PaymentScene
  let count = 0
  /** Each look is a minute after the one before. */
  let nowMs = Date.now()
  beforeAll(async () => {
    scene = await startPaymentScene({ databaseUrl })
  })
  afterAll(() => scene.close())

  const send = (account: string, method: string, body?: object) =>
    scene.stage.send(person(account), method, path, { ...(body !== undefined && { body }) })
  const posted = async (account: string) =>
    (await scene.stage.store.journal.wallet(account))?.postedNano
  const charges = (account: string) =>
    scene.simulator.paysim.control
      .payments()
      .filter(({ product, orderId }) => product === 'off_session' && ours(account).has(orderId))
      .flatMap(({ transactions }) => transactions)
  const orders = new Map<string, Set<string>>()
  const ours = (account: string) => orders.get(account) ?? new Set()
  const note = async (account: string) => {
    const listed = await scene.stage.store.paymentOrders.list({ account, limit: 50 })
    orders.set(account, new Set(listed.map(({ id }) => id)))
  }

  async function look(around: Around = plain): Promise<unknown[]> {
    nowMs += minuteMs
    const desk = scene.deskOn(around)
    const problems: unknown[] = []
    const admin = adminOf(desk.store, { nowMs, actor: 'automatic top-up' })
    await topUpAccounts(admin, desk, (error) => problems.push(error))
    return problems
  }

  /** Agreed, with this much left in the account. */
  async function agreed(left: bigint): Promise<string> {
    const account = `auto-${++count}`
    const order = await scene.order({ provider: 'stripe', method: 'checkout_saved', account })
    await scene.simulator.paysim.control.pay(order.id)
    await spend(account, 10n * unit - left)
    return account
  }

  async function spend(account: string, amount: bigint): Promise<void> {
    if (amount === 0n) return
    const given = { account, amount, direction: 'debit', reason: 'spent' } as const
    await adjustBalance(adminOf(scene.stage.store), { ...given, createAccount: false })
  }

  test('needs an agreement, amounts that fit, and is of its account alone', async () => {
    await scene.stage.store.accounts.ensure('nobody', 1)
    expect((await send('nobody', 'GET')).json).toMatchObject({
      ...{ provider: 'stripe', agreeMethod: 'checkout_saved', isAgreed: false, state: 'off' },
      ...{ revision: 0, providerCurrency: 'CNY' },
    })
    const refused = await send('nobody', 'PUT', rule)
    expect([refused.status, refused.json.field]).toEqual([409, 'account'])
    // Another payment agrees to nothing.
    const order = await scene.order({ provider: 'stripe', account: 'nobody' })
    await scene.simulator.paysim.control.pay(order.id)
    expect((await send('nobody', 'PUT', rule)).status).toBe(409)
    // An administrator would leave the account their own card.
    const body = {
      account: 'nobody',
      provider: 'stripe',
      method: 'checkout_saved',
      amount: '10.00',
      attempt: 'for-somebody',
    }
    const byOther = await scene.stage.send(person('root', 'admin'), 'POST', '/api/orders', { body })
    expect([byOther.status, byOther.json.field]).toEqual([400, 'account'])
    const account = await agreed(10n * unit)
    for (const [change, field] of [
      [{ amount: '0.50' }, 'amount'],
      [{ amount: '999999' }, 'amount'],
      [{ amount: '-1' }, 'amount'],
      [{ monthMost: '19.99' }, 'monthMost'],
      [{ thresholdNano: '0' }, 'thresholdNano'],
      [{ thresholdNano: 5 }, 'thresholdNano'],
    ] as const) {
      const { status, json } = await send(account, 'PUT', { ...rule, ...change })
      expect([field, status, json.field]).toEqual([field, 400, field])
    }
    const { json } = await send(account, 'PUT', rule)
    expect(json).toMatchObject({ ...rule, state: 'on', isAgreed: true, problem: null, revision: 1 })
    const headers = { 'if-match': '"7"' }
    const stale = await scene.stage.send(person(account), 'PUT', path, { body: rule, headers })
    expect(stale.status).toBe(412)
    const foreign = await scene.stage.send(person('nobody'), 'GET', `${path}?account=${account}`)
    expect(foreign.status).toBe(404)
    expect((await send(account, 'DELETE')).status).toBe(204)
    expect((await send(account, 'DELETE')).status).toBe(404)
    const events = await scene.stage.store.operatorEvents.list({ limit: 9 })
    expect(events.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['setAutoTopUp', 'removeAutoTopUp']),
    )
  })

  test('an account that is suspended or deleted is not charged', async () => {
    const account = await agreed(5n * unit)
    await send(account, 'PUT', rule)
    await spend(account, 1n)
    const root = person('root', 'admin')
    const change = (method: string, what = '') =>
      scene.stage.send(root, method, `/api/people/${account}${what}`)
    expect((await change('POST', '/suspend')).status).toBe(200)
    await look()
    await note(account)
    expect(charges(account)).toHaveLength(0)
    expect((await change('POST', '/resume')).status).toBe(200)
    await look()
    await note(account)
    expect(charges(account)).toHaveLength(1)
    await spend(account, 21n * unit)
    expect((await change('DELETE')).status).toBe(204)
    await look()
    await note(account)
    expect(charges(account)).toHaveLength(1)
    expect(await posted(account)).toBe(4n * unit - 1n)
  })

  test('tops up once when less is left, on six nodes at once, and again when it is crossed again', async () => {
    const account = await agreed(5n * unit)
    await send(account, 'PUT', rule)
    expect(await look()).toEqual([])
    expect(await posted(account)).toBe(5n * unit)
    await spend(account, 1n)
    nowMs += minuteMs
    const desk = scene.deskOn(plain)
    const problem = (error: unknown) => {
      throw error
    }
    // Each is later than the end of the turn before: all of them have the rule.
    const looks = [1, 2, 3, 4, 5, 6].map((each) =>
      topUpAccounts(
        adminOf(scene.deskOn(plain).store, { nowMs: nowMs + each * minuteMs }),
        desk,
        problem,
      ),
    )
    await Promise.all(looks)
    nowMs += 6 * minuteMs
    await note(account)
    expect(charges(account)).toHaveLength(1)
    expect(await posted(account)).toBe(25n * unit - 1n)
    const listed = await scene.stage.send(person(account), 'GET', '/api/orders')
    expect(listed.json.items[0]).toMatchObject({
      ...{ method: 'off_session', state: 'credited', amount: '20.00', pay: null },
    })
    await look()
    expect(charges(account)).toHaveLength(1)
    await spend(account, 21n * unit)
    await look()
    expect(await posted(account)).toBe(24n * unit - 1n)
    expect((await send(account, 'GET')).json).toMatchObject({ monthSpent: '40.00', state: 'on' })
    // A third would exceed the month's maximum; the next month begins from zero.
    await spend(account, 20n * unit)
    await look()
    expect(await posted(account)).toBe(4n * unit - 1n)
    expect(await scene.audit()).toEqual([])
  })

  test('an amount that the payer lowers while rules are worked on is not charged', async () => {
    const account = await agreed(1n * unit)
    await send(account, 'PUT', rule)
    let calls = 0
    const lowering: Around = async (call) => {
      const result = await call()
      calls += 1
      // The rules have been taken.
      if (calls === 1)
        expect((await send(account, 'PUT', { ...rule, amount: '10.00' })).status).toBe(200)
      return result
    }
    expect(await look(lowering)).toEqual([])
    await note(account)
    expect(charges(account)).toEqual([])
    await look()
    await note(account)
    expect(charges(account).map(({ amountMinor }) => amountMinor)).toEqual([1_000])
    expect(await posted(account)).toBe(11n * unit)
  })

  test.each(['card_declined', 'authentication_required'] as const)(
    '%s turns it off, once and told of, until it is turned on again',
    async (declines) => {
      const account = await agreed(1n * unit)
      await send(account, 'PUT', rule)
      const { control } = scene.simulator.paysim
      control.misbehave({ declines }, 'cleared')
      expect(await look()).toEqual([])
      await look()
      control.behave()
      await look()
      await note(account)
      expect([charges(account), await posted(account)]).toEqual([[], 1n * unit])
      const { json } = await send(account, 'GET')
      expect(json).toMatchObject({ state: 'stopped', monthSpent: '0.00' })
      expect(json.problem).toContain('Your card was declined.')
      const notices = await scene.stage.store.alertNotices.list({ account, unread: true, limit: 9 })
      expect(notices.map(({ document }) => document)).toMatchObject([
        { rule: 'top_up_stopped', valueNano: String(20n * unit) },
      ])
      expect((await send(account, 'PUT', rule)).json).toMatchObject({ state: 'on', problem: null })
      await look()
      expect(await posted(account)).toBe(21n * unit)
    },
  )

  test('a provider that is away is asked again, with the same order', async () => {
    const account = await agreed(1n * unit)
    await send(account, 'PUT', rule)
    const { control } = scene.simulator.paysim
    control.misbehave({ down: true }, 'cleared')
    expect(await look()).toHaveLength(1)
    expect(await look()).toHaveLength(1)
    control.behave()
    expect(await look()).toEqual([])
    await note(account)
    expect([charges(account).length, ours(account).size]).toEqual([1, 2])
    expect(await posted(account)).toBe(21n * unit)
  })

  test('killed before or after any call, it is paid once and credited once', async () => {
    for (const isDone of [true, false]) {
      for (let at = 1; ; at += 1) {
        const account = await agreed(1n * unit)
        await send(account, 'PUT', rule)
        let calls = 0
        const dying: Around = async (call) => {
          calls += 1
          if (calls > at) throw new Died()
          if (calls < at) return call()
          if (isDone) await call()
          throw new Died()
        }
        await look(dying).catch((error: unknown) => {
          if (!(error instanceof Died)) throw error
        })
        // The process that took over, and one more look.
        expect(await look()).toEqual([])
        expect(await look()).toEqual([])
        await note(account)
        expect([at, charges(account).length]).toEqual([at, 1])
        expect([at, await posted(account)]).toEqual([at, 21n * unit])
        expect(await scene.stage.store.autoTopUps.find(account)).toMatchObject({
          ...{ orderId: null, problem: null },
        })
        await send(account, 'DELETE')
        if (calls < at) break
      }
    }
    expect(await scene.audit()).toEqual([])
  }, 60_000)
})
