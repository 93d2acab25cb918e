// Tests that a key's spend limit, changed while its requests run on several nodes, is kept by all of them together.

import { afterEach, describe, expect, test } from 'bun:test'
import { createSecret, hashSecret } from '../../src/identity/secret.ts'
import { type KeyRow, type SpendLimit, unrestrictedKey } from '../../src/store/keys.ts'
import { eventually } from '../support/clients.ts'
import { type Deployment, deploy, expectCleanAudit, postgresCases } from '../support/deployment.ts'
import type { ServerProcess } from '../support/server-process.ts'
import {
  delta,
  event,
  json,
  lastChunk,
  send,
  sseHead,
  startUpstream,
  type Upstream,
  until,
} from '../support/upstream.ts'

/** One token of a reply costs 0.1. */
const outputPrice = '100000'
const units = (amount: number): bigint => BigInt(amount) * 1_000_000_000n

interface Stage {
  readonly deployment: Deployment
  readonly upstream: Upstream
  readonly nodes: readonly ServerProcess[]
  readonly secret: string
  readonly keyId: string
  change(change: Partial<KeyRow>): Promise<void>
}

const limit = { amountNano: units(100), period: 'never', timeZone: null } as const

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function open(databaseUrl: string | null, limit: SpendLimit, count: number): Promise<Stage> {
  const upstream = await startUpstream()
  ends.unshift(() => upstream.close())
  const deployment = await deploy({
    databaseUrl,
    credits: { ann: '10000' },
    config: {
      channels: [
        { id: 'main', vendor: 'openai', baseUrl: upstream.url, key: 'sk-vendor-0123456789' },
      ].map((channel) => ({ ...channel, models: ['short', 'long'] })),
      models: { '*': { kind: 'chat', prices: { input: '0', output: outputPrice } } },
    },
  })
  ends.unshift(() => deployment.remove())
  const nodes: ServerProcess[] = []
  for (let node = 0; node < count; node += 1) nodes.push(await deployment.start({ node }))
  const { keys } = deployment.store
  const secret = createSecret()
  const keyId = `key_${secret.slice(-12)}`
  const row = { ...unrestrictedKey, id: keyId, name: keyId, account: 'ann', group: 'default' }
  await keys.insert({
    ...row,
    hash: hashSecret(secret),
    hint: '',
    createdAt: 1,
    spendLimit: limit,
  })
  const stage: Stage = {
    deployment,
    upstream,
    nodes,
    secret,
    keyId,
    async change(change) {
      const found = await keys.find(keyId)
      if (found === null || !(await keys.update({ ...found, ...change })))
        throw new Error('The key could not be changed.')
    },
  }
  for (const node of nodes)
    await eventually(async () => (await modelsOf(stage, node)).includes('"short"') || undefined)
  return stage
}

async function modelsOf({ secret }: Stage, { url }: ServerProcess): Promise<string> {
  const headers = { authorization: `Bearer ${secret}` }
  return (await fetch(`${url}/v1/models`, { headers })).text()
}

async function ask({ secret }: Stage, { url }: ServerProcess, body: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body }),
  })
}

/** Asks for more than any limit here until the refusal says this. */
async function noticed(stage: Stage, node: ServerProcess, refusal: string): Promise<void> {
  await eventually(async () => {
    const reply = await ask(stage, node, { model: 'short', max_tokens: 20_000 })
    return (await reply.text()).includes(refusal) || undefined
  })
}

const usage = (tokens: number) => ({
  prompt_tokens: 1,
  completion_tokens: tokens,
  total_tokens: tokens + 1,
})

/** A whole reply of 8 tokens. */
const short = [
  json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'short',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: usage(8),
  }),
]

/** A stream that goes on with this text when the test says so, and ends. */
const long = (goesOn: Promise<void>, text = '') => [
  send(Buffer.concat([Buffer.from(sseHead), event(delta({ content: 'Hi' }))])),
  until(goesOn),
  send(
    Buffer.concat([
      ...text.split('\n').map((content) => event(delta({ content }))),
      event(delta({}, 'stop')),
      event({ ...delta({}), choices: [], usage: usage(1) }),
      event('[DONE]'),
      Buffer.from(lastChunk),
    ]),
  ),
]

async function spentNano({ deployment, keyId }: Stage): Promise<bigint> {
  const rows = await deployment.store.usage.list({ key: keyId, limit: 1_000 })
  return rows.reduce((sum, { chargeNano }) => sum + chargeNano, 0n)
}

describe.each(postgresCases)('two nodes on $engine', ({ databaseUrl }) => {
  test('keep to a lowered limit together, whatever running requests give back', async () => {
    const stage = await open(databaseUrl, limit, 2)
    const ended = Promise.withResolvers<void>()
    stage.upstream.on('long', long(ended.promise))
    stage.upstream.on('short', short)
    // Each of them holds 5.
    const streams = await Promise.all(
      stage.nodes.flatMap((node) =>
        Array.from({ length: 8 }, () =>
          ask(stage, node, { model: 'long', stream: true, max_tokens: 50 }),
        ),
      ),
    )
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    await stage.change({ spendLimit: { ...limit, amountNano: units(10) } })
    // Everything of the lowered limit is held, as each node finds out.
    for (const node of stage.nodes) await noticed(stage, node, 'may spend 10 USD')
    ended.resolve()
    await Promise.all(streams.map((stream) => stream.text()))
    const statuses = await Promise.all(
      stage.nodes.flatMap((node) =>
        Array.from({ length: 20 }, async () => {
          const reply = await ask(stage, node, { model: 'short', max_tokens: 8 })
          await reply.text()
          return reply.status
        }),
      ),
    )
    for (const node of stage.nodes) {
      node.signal('SIGTERM')
      await node.exited
    }
    expect(await spentNano(stage)).toBeLessThanOrEqual(units(10))
    expect(statuses).toContain(200)
    await expectCleanAudit(stage.deployment)
  }, 60_000)
})

test('a stream grows no further than a limit that was lowered while it runs', async () => {
  const stage = await open(null, { ...limit, amountNano: units(1_000) }, 1)
  const [node] = stage.nodes as [ServerProcess]
  const goesOn = Promise.withResolvers<void>()
  const [hundred, rest] = ['word '.repeat(80), 'word '.repeat(4_000)]
  stage.upstream.on('long', long(goesOn.promise, `${hundred}\n${rest}`))
  const reply = await ask(stage, node, { model: 'long', stream: true })
  expect(reply.status).toBe(200)
  // A request of another kind shows when the server knows of the change: one to a model would apply it to the stream.
  await stage.change({ spendLimit: { ...limit, amountNano: units(110) }, deniedModels: ['short'] })
  await eventually(async () => !(await modelsOf(stage, node)).includes('"short"') || undefined)
  goesOn.resolve()
  const text = await reply.text()
  expect(text).toContain('insufficient_quota')
  expect(text).toContain("no more of this API key's spend limit can be held for it")
  expect(text).not.toContain('[DONE]')
  await eventually(async () => (await spentNano(stage)) > 0n || undefined)
  expect(await spentNano(stage)).toBeLessThanOrEqual(units(110))
  await expectCleanAudit(stage.deployment)
}, 60_000)
