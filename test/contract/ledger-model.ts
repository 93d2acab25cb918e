// Random commands for a ledger and its model: which there are, how each is executed, and what is compared after each.

import fc from 'fast-check'
import type { Engine } from '../../src/store/engine.ts'
import type { LedgerEntry, NodeRef, Settlement, Transfer } from '../../src/store/ledger.ts'
import { house, walletOf } from '../../src/store/ledger.ts'
import { RowRefused, type Store } from '../../src/store/store.ts'
import { type LedgerBook, type LedgerTables, modelTables } from '../support/ledger-model.ts'
import { grantOne } from '../support/ledger-scene.ts'
import { keptTotals } from '../support/rollups.ts'
import { usageRow } from './store.ts'

export const accounts = ['ann', 'bob', 'zoë']
const nodes = ['n1', 'n2', 'n3']
const hourMs = 3_600_000
const quarterMs = 900_000
const largestNano = 2n ** 63n - 1n

/** The newest epoch of each node. */
type Epochs = ReadonlyMap<string, number>

/** One step; `ledger` is the engine's or the model's. */
export interface Command {
  readonly name: string
  run(ledger: LedgerTables, epochs: Epochs): Promise<unknown>
}

const account = fc.constantFrom(...accounts)
const small = fc.bigInt({ min: 0n, max: 300n })
const amount = fc.oneof(
  { weight: 30, arbitrary: small },
  { weight: 1, arbitrary: fc.constantFrom(largestNano - 100n, largestNano) },
)
const requestId = fc.integer({ min: 0, max: 40 }).map((number) => `req_${number}`)
/** The newest epoch of these nodes, or sometimes an older one. */
const ref = fc.record({
  node: fc.constantFrom(...nodes),
  back: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constant(1) },
  ),
})

type Ref = { readonly node: string; readonly back: number }

function refOf({ node, back }: Ref, epochs: Epochs): NodeRef {
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
  epochs: Epochs,
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

/** An hour is longer than any test, 0 is over at once. */
const lifetimeMs = fc.constantFrom(hourMs, hourMs, 0)

type Run<Made> = (made: Made, ledger: LedgerTables, epochs: Epochs) => Promise<unknown>

/** Commands of one kind; their parameters are in the name, so that a counterexample can be read. */
function step<Made>(weight: number, name: string, made: fc.Arbitrary<Made>, run: Run<Made>) {
  const arbitrary: fc.Arbitrary<Command> = made.map((each) => ({
    name: `${name} ${fc.stringify(each)}`,
    run: (ledger, epochs) => run(each, ledger, epochs),
  }))
  return { weight, arbitrary }
}

const node = fc.constantFrom(...nodes)

const command = fc.oneof(
  step(1, 'post', fc.array(deposit, { minLength: 1, maxLength: 3 }), (made, ledger) =>
    ledger.journal.post(made.map(transferOf)),
  ),
  step(1, 'open', fc.tuple(node, lifetimeMs), ([name, lifetime], ledger) =>
    ledger.nodes.open(name, lifetime),
  ),
  step(1, 'renew', fc.tuple(ref, lifetimeMs), ([by, lifetime], ledger, epochs) =>
    ledger.nodes.renew(refOf(by, epochs), lifetime),
  ),
  step(1, 'close', ref, (by, ledger, epochs) => ledger.nodes.close(refOf(by, epochs))),
  step(1, 'sweep', fc.constant(null), (_, ledger) => ledger.nodes.sweep()),
  step(
    4,
    'grant',
    fc.tuple(ref, account, fc.record({ needNano: small, wantNano: amount, spareNano: amount })),
    ([by, name, size], ledger, epochs) =>
      grantOne(ledger, { ...refOf(by, epochs), account: name, ...size }),
  ),
  step(1, 'give back', fc.tuple(ref, account, amount), ([by, name, amountNano], ledger, epochs) =>
    ledger.leases.giveBack(refOf(by, epochs), name, amountNano),
  ),
  step(
    1,
    'return excess',
    fc.tuple(ref, fc.dictionary(account, amount)),
    ([by, kept], ledger, epochs) =>
      ledger.leases.returnExcess(refOf(by, epochs), new Map(Object.entries(kept))),
  ),
  step(1, 'recall', fc.tuple(ref, account), ([by, name], ledger, epochs) =>
    ledger.leases.recall(name, refOf(by, epochs)),
  ),
  step(1, 'recalled', ref, (by, ledger, epochs) => ledger.leases.recalled(refOf(by, epochs))),
  step(
    1,
    'note held',
    fc.tuple(ref, fc.dictionary(account, amount)),
    ([by, held], ledger, epochs) =>
      ledger.leases.noteHeld(refOf(by, epochs), new Map(Object.entries(held))),
  ),
  step(4, 'settle', fc.array(settlement, { maxLength: 6 }), (made, ledger, epochs) =>
    ledger.settlements.settle(made.map((each) => settlementOf(each, epochs))),
  ),
  step(
    1,
    'set aside',
    fc.tuple(ref, requestId, account, amount),
    ([by, id, name, heldNano], ledger, epochs) =>
      ledger.settlements.setAside(
        { requestId: id, account: name, heldNano, raw: '["torn', reason: 'no record', at: 7 },
        refOf(by, epochs),
      ),
  ),
  step(
    1,
    'resolve',
    fc.tuple(requestId, fc.option(settlement, { freq: 1 })),
    ([id, made], ledger, epochs) =>
      ledger.settlements.resolve({
        requestId: id,
        settlement: made && { ...settlementOf(made, epochs), fromLeaseNano: 0n },
        actor: 'ops',
        reason: 'because',
        at: 8,
      }),
  ),
)

/** Open nodes and funded wallets, so that the other commands have an effect. */
const opening: readonly Command[] = [
  ...nodes.map((node) => ({
    name: 'open',
    run: (ledger: LedgerTables) => ledger.nodes.open(node, hourMs),
  })),
  ...accounts.map((account, index) => ({
    name: 'post',
    run: (ledger: LedgerTables) => {
      const [debit, credit] = [house.promo, walletOf(account)]
      const id = `bonus:${account}`
      const amountNano = 400n * BigInt(index + 1)
      return ledger.journal.post([
        { id, code: 'bonus', debit, credit, amountNano, actor: null, reason: null, at: index },
      ])
    },
  })),
]

export const commands = fc
  .array(command, { size: 'max', maxLength: 50 })
  .map((some) => [...opening, ...some])

/** The answer of a command; a refusal is an answer. */
export async function answer(
  command: Command,
  ledger: LedgerTables,
  epochs: Epochs,
): Promise<unknown> {
  try {
    return await command.run(ledger, epochs)
  } catch (error) {
    if (error instanceof RowRefused) return 'refused'
    throw error
  }
}

/** Everything that a ledger stores, in a comparable form. */
export interface Kept {
  readonly counters: readonly unknown[]
  readonly leases: readonly unknown[]
  readonly views: readonly unknown[]
  readonly usage: readonly unknown[]
  readonly quarters: readonly unknown[]
}

async function views(ledger: LedgerTables): Promise<readonly unknown[]> {
  const lists = accounts.flatMap((account) => [
    ledger.journal.transfers({ account, limit: 100 }),
    ledger.journal.transfers({ account, usage: true, limit: 3 }),
    entriesInPages(ledger, account),
    ledger.journal.wallet(account),
  ])
  return Promise.all([
    ledger.journal.wallets(),
    ledger.settlements.setAsides(3),
    ledger.journal.wallet('nobody'),
    ...lists,
  ])
}

/** Two at a time, each page read separately. */
async function entriesInPages({ journal }: LedgerTables, account: string) {
  const read: LedgerEntry[] = []
  for (;;) {
    const before = read.at(-1)
    const page = await journal.entries({ account, limit: 2, ...(before && { before }) })
    read.push(...page)
    if (page.length < 2) return read
  }
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
    views: await views(store),
    usage: await store.usage.list({ limit: 1000 }),
    quarters: await keptTotals(store, { only: counted }),
  }
}

export async function keptByModel(book: LedgerBook): Promise<Kept> {
  return {
    counters: [...book.counters]
      .map(([id, { debits, credits }]) => ({
        id,
        debits_posted: String(debits),
        credits_posted: String(credits),
        debits_pending: String(id.startsWith('wallet:') ? book.leased(id.slice(7)) : 0n),
      }))
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
    leases: [...book.nodes]
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
    views: await views(modelTables(book)),
    usage: book.usage.toSorted(
      (one, other) => other.at - one.at || (one.requestId < other.requestId ? 1 : -1),
    ),
    quarters: quartersOf(book),
  }
}

const counted = ['requests', 'chargeNano', 'input', 'output', 'errors', 'writeoffNano'] as const

function quartersOf(book: LedgerBook) {
  const totals = new Map<string, Record<string, string | number | bigint>>()
  for (const row of book.usage) {
    const { account, key, group, operation } = row
    const dimensions = {
      quarter: row.at - (row.at % quarterMs),
      account,
      key,
      // Refused before it had a price or a channel, it may name anything.
      model:
        row.channel === null && row.priceVersion === null && row.status >= 400
          ? ''
          : row.modelAsked,
      channel: row.channel ?? '',
      group,
      operation,
      statusClass: row.status === 200 ? '2xx' : '4xx',
    }
    const { quarter, ...others } = dimensions
    const name = [String(quarter).padStart(15, '0'), ...Object.values(others)].join('\0')
    const total = totals.get(name) ?? dimensions
    const sums = { ...row, requests: 1, errors: row.status === 200 ? 0 : 1 }
    const added = counted.flatMap((field) => {
      const sum = BigInt(total[field as 'quarter'] ?? 0) + BigInt(sums[field])
      return sum === 0n ? [] : [[field, sum] as const]
    })
    totals.set(name, { ...total, ...Object.fromEntries(added) })
  }
  return [...totals].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, total]) => total)
}
