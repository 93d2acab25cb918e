// Tests two accounts of one vendor: state that one of them sealed goes back to it, streamed and whole, and reaches no
// other.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import type { JsonObject } from '../../src/wire/ir.ts'
import { openaiClient } from '../support/clients.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { type Responder, startResponder } from '../support/responder.ts'

let gateway: Gateway
let client: OpenAI
let accounts: readonly Responder[]
/** More than are tried for one request. */
let crowd: readonly Responder[]

beforeAll(async () => {
  accounts = await Promise.all([startResponder(), startResponder()])
  const channels = accounts.map(({ url }, at) => {
    const key = `sk-upstream-secret-012345678${at}`
    const models = { twice: 'gpt-5', [`only${at}`]: 'gpt-5' }
    return { id: `account${at}`, vendor: 'openai', baseUrl: url, key, models }
  })
  crowd = await Promise.all(Array.from({ length: 20 }, startResponder))
  const crowded = crowd.map(({ url }, at) => ({
    id: `crowd${at}`,
    vendor: 'openai',
    baseUrl: url,
    key: `sk-upstream-secret-one-of-many-${at}`,
    models: { crowded: 'gpt-5', ...(at < 8 && { several: 'gpt-5' }) },
  }))
  gateway = await startGateway({ config: { channels: [...channels, ...crowded] } })
  client = openaiClient(gateway.url)
})
afterAll(async () => {
  await gateway.stop()
  for (const account of [...accounts, ...crowd]) await account.stop()
})
beforeEach(() => {
  for (const { bodies } of accounts) bodies.length = 0
})

const asked = {
  model: 'twice',
  store: false,
  include: ['reasoning.encrypted_content' as const],
}

async function answered(stream: boolean, input: OpenAI.Responses.ResponseInput) {
  if (!stream) return client.responses.create({ ...asked, input })
  return client.responses.stream({ ...asked, input }).finalResponse()
}

/** Without ids, since the vendor keeps nothing under them. */
function again({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInput {
  const items = output.map(({ id: _, ...item }) => item)
  return [...items, { role: 'user', content: 'Go on.' }] as OpenAI.Responses.ResponseInput
}

function encryptedIn(body: JsonObject | undefined): unknown[] {
  const input = (body?.['input'] ?? []) as JsonObject[]
  return input.flatMap(({ encrypted_content: encrypted }) =>
    encrypted === undefined ? [] : [encrypted],
  )
}

test.each([true, false])('a conversation stays at the account, streamed: %p', async (stream) => {
  const used = new Set<number>()
  for (let turns = 0; turns < 20; turns++) {
    for (const { bodies } of accounts) bodies.length = 0
    const first = await answered(stream, [{ role: 'user', content: 'Hello' }])
    const at = accounts.findIndex(({ bodies }) => bodies.length === 1)
    used.add(at)
    await answered(stream, again(first))
    const { bodies = [] } = accounts[at] ?? {}
    expect(bodies).toHaveLength(2)
    expect(encryptedIn(bodies[1])).toEqual(['sealed-1'])
    // It was sent on as the client put it.
    expect(Object.keys(bodies[1] ?? {})).toEqual([
      ...Object.keys(asked),
      'input',
      ...(stream ? ['stream'] : []),
    ])
  }
  expect([...used].sort()).toEqual([0, 1])
})

test.each(['several', 'crowded'])(
  'it stays at its account also where more serve the model than are tried: %s',
  async (model) => {
    for (let turns = 0; turns < 20; turns++) {
      for (const account of crowd) account.bodies.length = 0
      const first = await client.responses.create({ ...asked, model, input: 'Hello' })
      const at = crowd.findIndex(({ bodies }) => bodies.length === 1)
      await client.responses.create({ ...asked, model, input: again(first) })
      const { bodies = [] } = crowd[at] ?? {}
      expect(bodies).toHaveLength(2)
      expect(encryptedIn(bodies[1])).toEqual(['sealed-1'])
    }
  },
)

test('another account is asked without it', async () => {
  const first = await client.responses.create({ ...asked, input: 'Hello' })
  const at = accounts.findIndex(({ bodies }) => bodies.length === 1)
  const model = `only${1 - at}`
  const reply = await client.responses.create({ ...asked, model, input: again(first) })
  expect(reply.status).toBe('completed')
  expect(encryptedIn(accounts[1 - at]?.bodies[0])).toEqual([])
})

test('one account alone is handed its own as it was, and hands out its own', async () => {
  const first = await client.responses.create({ ...asked, model: 'only0', input: 'Hello' })
  expect(JSON.stringify(first.output)).toContain('"encrypted_content":"sealed-1"')
})
