// Tests how many event streams one process keeps open: for an account, for all customers, and for operators.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ControlPrincipal } from '../../src/identity/principal.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'

let stage: ControlStage
const open: Response[] = []
beforeAll(async () => {
  stage = await controlStage()
})
afterAll(async () => {
  for (const reply of open) await reply.body?.cancel()
  await stage.close()
})

async function follows(as: ControlPrincipal, times: number): Promise<number[]> {
  const replies = []
  for (let each = 0; each < times; each++)
    replies.push(await stage.reply(as, '/api/requests/live', { method: 'GET' }))
  open.push(...replies)
  return replies.map(({ status }) => status)
}
const taken = (count: number) => new Array<number>(count).fill(200)

test('eight for an account, 48 for customers, and 64 with those of operators', async () => {
  expect(await follows(person('u0'), 9)).toEqual([...taken(8), 429])
  for (const each of [1, 2, 3, 4, 5]) expect(await follows(person(`u${each}`), 8)).toEqual(taken(8))
  expect(await follows(person('u6'), 1)).toEqual([429])
  expect(await follows(person('root', 'admin'), 8)).toEqual(taken(8))
  const [one, other] = [manager(null, ['read']), { ...manager(null, ['read']), keyId: 'mk_other' }]
  expect(await follows(one, 4)).toEqual(taken(4))
  expect(await follows(other as ControlPrincipal, 5)).toEqual([...taken(4), 429])
  for (const reply of open.splice(0, 9)) await reply.body?.cancel()
  expect(await follows(person('u6'), 8)).toEqual(taken(8))
})
