// Tracks how far each outbox's records have reached the ledger and which are missing, so that lost ones are detected.

import type { Engine, Session } from './engine.ts'
import type { Findings } from './findings.ts'
import { forUpdate } from './leases.ts'
import type { OutboxPlace, OutboxTable } from './ledger.ts'
import { cleanText } from './text.ts'

interface Gap {
  readonly first: number
  readonly last: number
}

const select = 'SELECT through FROM outbox_epoch WHERE node = ? AND epoch = ?'
const make =
  'INSERT INTO outbox_epoch (node, epoch, through) VALUES (?, ?, 0) ON CONFLICT DO NOTHING'
const move = 'UPDATE outbox_epoch SET through = ? WHERE node = ? AND epoch = ?'
const addGap = 'INSERT INTO outbox_gap (node, epoch, first, last) VALUES (?, ?, ?, ?)'
const dropGap = 'DELETE FROM outbox_gap WHERE node = ? AND epoch = ? AND first = ?'
const selectGaps = `SELECT first, last FROM outbox_gap
  WHERE node = ? AND epoch = ? AND first <= ? AND last >= ? ORDER BY first`

/** Notes in the caller's transaction that these records are in the ledger. Skipped numbers are gaps for now. */
export async function noteCome(session: Session, places: readonly OutboxPlace[]): Promise<void> {
  for (const { node, epoch, numbers } of byEpoch(places)) {
    const through = await lockThrough(session, node, epoch)
    const late = numbers.filter((number) => number <= through)
    if (late.length > 0) await fillGaps(session, { node, epoch }, late)
    let reached = through
    for (const number of numbers.slice(late.length)) {
      if (number > reached + 1) {
        await session.run(addGap, [node, epoch, reached + 1, number - 1])
      }
      reached = number
    }
    if (reached > through) await session.run(move, [reached, node, epoch])
  }
}

/** Those of the places whose records are already in the ledger, or set aside. */
export async function cameBefore(
  session: Session,
  places: readonly OutboxPlace[],
): Promise<ReadonlySet<OutboxPlace>> {
  const came = new Set<OutboxPlace>()
  for (const { node, epoch, numbers } of byEpoch(places)) {
    const [kept] = await session.query<{ readonly through: number }>(select, [node, epoch])
    const through = kept?.through ?? 0
    const bounds = [numbers.at(-1) ?? 0, numbers[0] ?? 0]
    const gaps = await session.query<Gap>(selectGaps, [node, epoch, ...bounds])
    for (const place of places) {
      if (cleanText(place.node) !== node || place.epoch !== epoch || place.number > through)
        continue
      const { number } = place
      if (!gaps.some(({ first, last }) => number >= first && number <= last)) came.add(place)
    }
  }
  return came
}

export function outboxTable(engine: Engine): OutboxTable {
  return { end: (place) => engine.transaction((session) => noteEnd(session, place)) }
}

async function noteEnd(session: Session, { node, epoch, number }: OutboxPlace): Promise<void> {
  const id = cleanText(node)
  const through = await lockThrough(session, id, epoch)
  if (number <= through) return
  await session.run(addGap, [id, epoch, through + 1, number])
  await session.run(move, [number, id, epoch])
}

/** Groups places by outbox and epoch, with sorted unique numbers. */
function byEpoch(places: readonly OutboxPlace[]) {
  const groups = new Map<string, { node: string; epoch: number; numbers: number[] }>()
  for (const { node, epoch, number } of places) {
    const name = `${node} ${epoch}`
    const group = groups.get(name) ?? { node: cleanText(node), epoch, numbers: [] }
    group.numbers.push(number)
    groups.set(name, group)
  }
  return [...groups.values()].map((group) => ({
    ...group,
    numbers: [...new Set(group.numbers)].sort((a, b) => a - b),
  }))
}

async function lockThrough(session: Session, node: string, epoch: number): Promise<number> {
  const sql = `${select}${forUpdate[session.kind]}`
  const [kept] = await session.query<{ readonly through: number }>(sql, [node, epoch])
  if (kept !== undefined) return kept.through
  await session.run(make, [node, epoch])
  const [made] = await session.query<{ readonly through: number }>(sql, [node, epoch])
  return made?.through ?? 0
}

/** Removes late or repeated numbers from the gaps that contain them. */
async function fillGaps(
  session: Session,
  { node, epoch }: { readonly node: string; readonly epoch: number },
  late: readonly number[],
): Promise<void> {
  const bounds = [late.at(-1) ?? 0, late[0] ?? 0]
  for (const gap of await session.query<Gap>(selectGaps, [node, epoch, ...bounds])) {
    const came = late.filter((number) => number >= gap.first && number <= gap.last)
    if (came.length === 0) continue
    await session.run(dropGap, [node, epoch, gap.first])
    for (const { first, last } of without(gap, came)) {
      await session.run(addGap, [node, epoch, first, last])
    }
  }
}

function without({ first, last }: Gap, came: readonly number[]): Gap[] {
  const ends = [first - 1, ...came, last + 1]
  return ends
    .slice(1)
    .map((end, index) => ({ first: (ends[index] ?? 0) + 1, last: end - 1 }))
    .filter((gap) => gap.first <= gap.last)
}

/** Reports numbers that outboxes have assigned and the ledger never received. */
export async function auditOutboxes(session: Session, findings: Findings): Promise<void> {
  const gaps = await session.query<Gap & { readonly node: string; readonly epoch: number }>(
    'SELECT node, epoch, first, last FROM outbox_gap ORDER BY node, epoch, first',
    [],
  )
  for (const { node, epoch, first, last } of gaps) {
    const which = first === last ? `record ${first}` : `records ${first} to ${last}`
    findings.add('outbox', `${node}/${epoch}`, `${which} never came into the ledger`)
  }
}
