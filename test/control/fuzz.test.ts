// Tests every operation of the control API with generated requests, by every kind of signed-in caller.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ControlPrincipal } from '../../src/identity/principal.ts'
import { type ControlStage, controlStage, manager, person } from '../support/control.ts'
import { faultsOf, type Scene, seed } from '../support/fuzz.ts'
import { Described, type Json } from '../support/openapi.ts'

let stage: ControlStage
let scene: Scene

beforeAll(async () => {
  stage = await controlStage()
  const { json } = await stage.send(null, 'GET', '/openapi.json')
  const described = new Described(json)
  const ids = ['ann', 'root']
  for (const { method, path, responses } of described.operations) {
    if (method !== 'get' || !path.startsWith('/api/') || path.includes('{')) continue
    // It has no end.
    if (responses.get('200')?.has('text/event-stream')) continue
    const reply = await stage.send(person('root', 'admin'), 'GET', path)
    ids.push(...namesIn(reply.json).slice(0, 20))
  }
  scene = { described, ids: [...new Set(ids)] }
})
afterAll(async () => {
  await stage.close()
})

/** Texts of fields such as `id`, `account` or `requestId`, which may name something. */
function namesIn(value: Json, name = ''): string[] {
  if (typeof value === 'string') return /(^id|Id|^account|^name|^model)$/.test(name) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([at, member]) => namesIn(member ?? null, at))
}

const callers: readonly (readonly [string, ControlPrincipal | null])[] = [
  ['nobody', null],
  ['a user', person('ann')],
  ['an auditor', person('eve', 'auditor')],
  ['an admin', person('root', 'admin')],
  ['a management key of an account', manager('ann', ['read', 'write'])],
  ['a management key of none', manager(null, ['read', 'write'])],
]

test.each(callers)(
  `every operation, asked by %s (seed ${seed})`,
  async (_, caller) => {
    const { described } = scene
    // This stage has no sign-in; it is tested with a complete gateway.
    const own = described.operations.filter(
      ({ path, responses }) =>
        !path.startsWith('/api/auth/') &&
        [...responses.values()].some((contents) => contents.has('application/problem+json')),
    )
    const faults = await faultsOf(scene, own, ({ path, ...init }, signal) => {
      const late = new Promise<never>((_resolve, reject) => {
        signal.onabort = () => reject(signal.reason)
      })
      return Promise.race([stage.reply(caller, path, init), late])
    })
    expect([faults, stage.crashes]).toEqual([[], []])
  },
  600_000,
)
