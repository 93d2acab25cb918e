// Every documented operation with generated requests: answered in time, as the document says, and never by a failure.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { faultsOf, type Scene, seed } from '../support/fuzz.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { Described, type JsonObject } from '../support/openapi.ts'

let gateway: Gateway
let scene: Scene

beforeAll(async () => {
  gateway = await startGateway()
  const document = await fetch(`${gateway.url}/openapi.json`)
  const described = new Described((await document.json()) as JsonObject)
  const ids: string[] = []
  for (const id of ['createResponse', 'createVideo']) {
    const { path, body } = described.operation(id)
    const made = await gateway.post(path, body?.get('application/json')?.example)
    ids.push(
      String(((await made.json()) as JsonObject)['id']),
      made.headers.get('x-request-id') ?? '',
    )
  }
  scene = { described, ids }
})
afterAll(async () => {
  await gateway.stop()
  expect(gateway.stderr).not.toContain('internal error')
})

/** Of the control API the rest is asked where anybody can be signed in: `test/control/fuzz.test.ts`. */
test.each(['nobody', 'a key'])(
  `every operation, asked by %s (seed ${seed})`,
  async (caller) => {
    const authorization = `Bearer ${gateway.key}`
    const faults = await faultsOf(scene, scene.described.operations, (sent, signal) =>
      fetch(gateway.url + sent.path, {
        method: sent.method,
        headers: { ...sent.headers, ...(caller === 'a key' && { authorization }) },
        ...(sent.body !== null && { body: sent.body }),
        redirect: 'manual',
        signal,
      }),
    )
    expect(faults).toEqual([])
  },
  600_000,
)
