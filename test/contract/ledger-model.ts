// Random commands to a ledger and to its model: what they can be, how each is done, and all that is compared after it.

import fc from 'fast-check'
import type { Engine } from '../../src/store/engine.ts'
import type { LedgerTable, NodeRef, Settlement, Transfer } from '../../src/store/ledger.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import type { LedgerModel } from '../support/ledger-model.ts'
import { usageRow } from './store.ts'

export const accounts = ['ann', 'bob', 'zoë']
const nodes = ['n1', 'n2', 'n3']
const hourMs = 3_600_000
const largestNano = 2n ** 63n - 1n

/** One step; `ledger` is the engine's or the model's, `epochs` what each node's newest epoch is. */
export interface Command {
  readonly name: string
  run(ledger: LedgerTable, epochs: ReadonlyMap<string, number>): Promise<unknown>
}

const account = fc.constantFrom(...accounts)
const small = fc.bigInt({ min: 0n, max: 300n })
const amount = fc.oneof(
  { weight: 30, arbitrary: small },
  { weight: 1, arbitrary: fc.constantFrom(largestNano - 100n, largestNano) },
)
const requestId = fc.integer({ min: 0, max: 40 }).map((number) => `req_${number}`)
/** Of these nodes the newest epoch, or sometimes an older one. */
const ref = fc.record({
  node: fc.constantFrom(...nodes),
  back: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constant(1) },
  ),
})

type Ref = { readonly node: string; readonly back: number }

function refOf({ node, back }: Ref, epochs: ReadonlyMap<string, number>): NodeRef {
  return { node, epoch: Math.max(0, (epochs.get(node) ?? 0) - back) }
}

const settlement = fc.record({
  ref,
  requestId,
  account: fc.oneof(
    { weight: 9, arbitrary: account },
    { weight: 1, arbitrary: fc.constant('nobody') },
  ),
  at: fc.integer({ min: 0, max: 3 * hourMs }),
  status: fc.constantFrom(200, 499),
  channel: fc.constantFrom('main', null),
  chargeNano: amount,
  fromLeaseNano: small,
  capNano: fc.option(small, { freq: 4 }),
  input: fc.nat(1000),
})

function settlementOf(
  made: typeof settlement extends fc.Arbitrary<infer Made> ? Made : never,
  epochs: ReadonlyMap<string, number>,
): Settlement {
  const { requestId, account, at, status, channel, chargeNano, fromLeaseNano, capNano } = made
  const { input } = made
  const row = usageRow({ requestId, account, at, status, channel, chargeNano, input })
  return { ...refOf(made.ref, epochs), row, fromLeaseNano, capNano, idempotency: null }
}

const deposit = fc.record({
  code: fc.constantFrom('opening', 'topup', 'adjust', 'refund', 'usage'),
  reference: fc.nat(15),
  account: fc.oneof(
    { weight: 19, arbitrary: account },
    { weight: 1, arbitrary: fc.constant('nobody') },
  ),
  amountNano: amount,
  isDebit: fc.oneof(
    { weight: 3, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  actor: fc.constantFrom('ops', null),
  at: fc.nat(50),
})

function transferOf(
  made: typeof deposit extends fc.Arbitrary<infer Made> ? Made : never,
): Transfer {
  const { code, reference, amountNano, actor, at, isDebit } = made
  const wallet = walletOf(made.account)
  const [debit, credit] = isDebit ? [wallet, house.adjust] : [house.adjust, wallet]
  const reason = actor === null ? null : 'because'
  return { id: `${code}:${reference}`, code, debit, credit, amountNano, actor, reason, at }
}

/** An hour lies past the end of any test, 0 is over at once. */
const lifetimeMs = fc.constantFrom(hourMs, hourMs, 0)

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.array(deposit, { minLength: 1, maxLength: 3 }).map((made) => ({
    name: 'post',
    run: (ledger) => ledger.post(made.map(transferOf)),
  })),
  fc.tuple(fc.constantFrom(...nodes), lifetimeMs).map(([node, lifetimeMs]) => ({
    name: 'open',
    run: (ledger) => ledger.openNode(node, lifetimeMs),
  })),
  fc.tuple(ref, lifetimeMs).map(([made, lifetimeMs]) => ({
    name: 'renew',
    run: (ledger, epochs) => ledger.renewNode(refOf(made, epochs), lifetimeMs),
  })),
  ref.map((made) => ({
    name: 'close',
    run: (ledger, epochs) => ledger.closeNode(refOf(made, epochs)),
  })),
  fc.constant({ name: 'sweep', run: (ledger: LedgerTable) => ledger.sweep() }),
  ...Array.from({ length: 4 }, () =>
    fc.tuple(ref, account, small, amount).map(([made, account, needNano, wantNano]) => ({
      name: 'grant',
      run: (ledger: LedgerTable, epochs: ReadonlyMap<string, number>) =>
        ledger.grant({ ...refOf(made, epochs), account, needNano, wantNano }),
    })),
  ),
  fc.tuple(ref, account, amount).map(([made, account, amountNano]) => ({
    name: 'give back',
    run: (ledger, epochs) => ledger.giveBack(refOf(made, epochs), account, amountNano),
  })),
  fc.tuple(ref, account).map(([made, account]) => ({
    name: 'recall',
    run: (ledger, epochs) => ledger.recall(account, refOf(made, epochs)),
  })),
  ref.map((made) => ({
    name: 'recalled',
    run: (ledger, epochs) => ledger.recalled(refOf(made, epochs)),
  })),
  fc.tuple(ref, fc.dictionary(account, amount)).map(([made, held]) => ({
    name: 'note held',
    run: (ledger, epochs) => ledger.noteHeld(refOf(made, epochs), new Map(Object.entries(held))),
  })),
  ...Array.from({ length: 4 }, () =>
    fc.array(settlement, { maxLength: 6 }).map((made) => ({
      name: 'settle',
      run: (ledger: LedgerTable, epochs: ReadonlyMap<string, number>) =>
        ledger.settle(made.map((each) => settlementOf(each, epochs))),
    })),
  ),
  fc.tuple(ref, requestId, account, amount).map(([made, requestId, account, heldNano]) => ({
    name: 'set aside',
    run: (ledger, epochs) =>
      ledger.setAside(
        { requestId, account, heldNano, raw: '["torn', reason: 'no record', at: 7 },
        refOf(made, epochs),
      ),
  })),
)

/** Nodes that are open and wallets that have something, so that the rest has something to do. */
const opening: readonly Command[] = [
  ...nodes.map((node) => ({
    name: 'open',
    run: (ledger: LedgerTable) => ledger.openNode(node, hourMs),
  })),
  ...accounts.map((account, index) => ({
    name: 'post',
    run: (ledger: LedgerTable) => {
      const [debit, credit] = [house.promo, walletOf(account)]
      const id = `bonus:${account}`
      const amountNano = 400n * BigInt(index + 1)
      return ledger.post([
        { id, code: 'bonus', debit, credit, amountNano, actor: null, reason: null, at: index },
      ])
    },
  })),
]

export const commands = fc
  .array(command, { size: 'max', maxLength: 50 })
  .map((some) => [...opening, ...some])

/** What a command answered; a refusal is an answer. */
export async function answer(
  command: Command,
  ledger: LedgerTable,
  epochs: ReadonlyMap<string, number>,
): Promise<unknown> {
  try {
    return await command.run(ledger, epochs)
  } catch (error) {
    if (error instanceof RowRefused) return 'refused'
    throw error
  }
}

/** Everything a ledger keeps, in a form two of them can be compared in. */
export interface Kept {
  readonly counters: readonly unknown[]
  readonly leases: readonly unknown[]
  readonly views: readonly unknown[]
  readonly usage: readonly unknown[]
  readonly hours: readonly unknown[]
}

async function views(ledger: LedgerTable): Promise<unknown[]> {
  const lists = accounts.flatMap((account) => [
    ledger.transfers({ account, limit: 100 }),
    ledger.transfers({ account, usage: true, limit: 3 }),
    ledger.wallet(account),
  ])
  return [await ledger.wallets(), await ledger.setAsides(3), await ledger.wallet('nobody')].concat(
    await Promise.all(lists),
  )
}

export async function keptBy(engine: Engine, store: Store): Promise<Kept> {
  const text = (column: string) => `CAST(${column} AS TEXT) AS ${column}`
  return {
    counters: await engine.query(
      `SELECT id, ${['debits_posted', 'credits_posted', 'debits_pending'].map(text).join(', ')}
        FROM ledger_account ORDER BY id`,
      [],
    ),
    leases: await engine.query(
      `SELECT node, epoch, account, ${text('amount_nano')}, ${text('held_nano')},
        CASE WHEN recalled_at IS NULL THEN 0 ELSE 1 END AS recalled
        FROM lease ORDER BY node, account`,
      [],
    ),
    views: await views(store.ledger),
    usage: await store.usage.list({ limit: 1000 }),
    hours: (await store.hours.list({})).map((row) => ({ ...row })),
  }
}

export async function keptByModel(model: LedgerModel): Promise<Kept> {
  return {
    counters: [...model.counters]
      .map(([id, { debits, credits }]) => ({
        id,
        debits_posted: String(debits),
        credits_posted: String(credits),
        debits_pending: String(id.startsWith('wallet:') ? model.leased(id.slice(7)) : 0n),
      }))
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
    leases: [...model.nodes]
      .flatMap(([node, { epoch, leases }]) =>
        [...leases].map(([account, { amount, held, recalled }]) => ({
          node,
          epoch,
          account,
          amount_nano: String(amount),
          held_nano: String(held),
          recalled: recalled ? 1 : 0,
        })),
      )
      .sort((one, other) => (one.node + one.account < other.node + other.account ? -1 : 1)),
    views: await views(model),
    usage: model.usage.toSorted(
      (one, other) => other.at - one.at || (one.requestId < other.requestId ? 1 : -1),
    ),
    hours: hoursOf(model),
  }
}

function hoursOf(model: LedgerModel) {
  const hours = new Map<string, { [name: string]: unknown; requests: number }>()
  for (const row of model.usage) {
    const hour = row.at - (row.at % hourMs)
    const { account, key, group, status } = row
    const channel = row.channel ?? ''
    const dimensions = { hour, account, key, model: row.modelAsked, channel, group, status }
    const name = JSON.stringify(dimensions)
    const before = hours.get(name)
    hours.set(name, {
      ...dimensions,
      requests: (before?.requests ?? 0) + 1,
      inputTokens: Number(before?.['inputTokens'] ?? 0) + row.input,
      outputTokens: Number(before?.['outputTokens'] ?? 0) + row.output,
      chargeNano: BigInt(String(before?.['chargeNano'] ?? 0)) + row.chargeNano,
      writeoffNano: BigInt(String(before?.['writeoffNano'] ?? 0)) + row.writeoffNano,
      vendorCostNano: BigInt(String(before?.['vendorCostNano'] ?? 0)) + row.vendorCostNano,
    })
  }
  const order = ({ hour, account, channel, status }: { [name: string]: unknown }) =>
    `${String(hour).padStart(9, '0')} ${account} ${channel} ${status}`
  return [...hours.values()].sort((one, other) => (order(one) < order(other) ? -1 : 1))
}
