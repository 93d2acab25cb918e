// Tests that outboxes of workers that are no longer started are settled one by one, even if one of them fails.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LeftNode, leftSlots, settleLeftOutboxes } from './left-outboxes.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-left-'))
for (const name of [
  'outbox-0.db',
  'outbox-2.db',
  'outbox-10.db',
  'outbox-10-a.db',
  'outbox-12-b.db',
  'outbox-3.db-wal',
])
  writeFileSync(join(dataDir, name), '')
afterAll(() => rmSync(dataDir, { recursive: true }))

test('those above the slots in use, and no other file', () => {
  expect(leftSlots(dataDir, 1)).toEqual([2, 10, 12])
  expect(leftSlots(dataDir, 3)).toEqual([10, 12])
  expect(leftSlots(dataDir, 13)).toEqual([])
})

test('each is settled before it is closed; one that fails does not hold up the next', async () => {
  const events: string[] = []
  const open = async (slot: number): Promise<LeftNode> => {
    events.push(`open ${slot}`)
    if (slot === 2) throw new Error('broken')
    return {
      opened: Promise.resolve().then(() => void events.push(`settled ${slot}`)),
      async drain() {
        events.push(`closed ${slot}`)
        return 3
      },
    }
  }
  const reports: unknown[] = []
  const note = (fields: object, message: string) => void reports.push([fields, message])
  await settleLeftOutboxes({ dataDir, workers: 1, open, log: { info: note, error: note } })
  const last = ['open 12', 'settled 12', 'closed 12']
  expect(events).toEqual(['open 2', 'open 10', 'settled 10', 'closed 10', ...last])
  expect(reports).toEqual([
    [{ err: new Error('broken'), slot: 2 }, 'the outbox of a former worker cannot be settled'],
    [{ slot: 10, unsettled: 3 }, 'the outbox of a former worker still holds records'],
    [{ slot: 12, unsettled: 3 }, 'the outbox of a former worker still holds records'],
  ])
})
