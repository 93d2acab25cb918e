// Tests a machine without any provider, from its first start: the printed link signs in, a key is made, a model is
// called, and the receipt adds up; after kill -9 all of it is still there.

import { expect, test } from 'bun:test'
import { type ServerProcess, startServer } from '../support/server-process.ts'

interface Line {
  readonly amountNano: string
}

/** Signs in by a link; returns the cookie that a browser would send. */
async function signIn(link: string): Promise<string> {
  const reply = await fetch(link, { redirect: 'manual' })
  expect([reply.status, reply.headers.get('location')]).toEqual([303, '/'])
  const [cookie = ''] = reply.headers.getSetCookie()
  expect(cookie).toMatch(/^__Host-tollgate=[^;]+; .*Path=\/; HttpOnly; Secure; SameSite=Lax/)
  return cookie.split(';', 1)[0] ?? ''
}

async function ask(server: ServerProcess, cookie: string, path: string, body?: object) {
  const reply = await fetch(`${server.url}${path}`, {
    headers: { cookie, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: reply.status, json: (await reply.json()) as ReturnType<typeof JSON.parse> }
}

/** Follows requests as they are settled; returns a promise that resolves when this one is. */
async function follow(server: ServerProcess, cookie: string) {
  const live = await fetch(`${server.url}/api/requests/live`, { headers: { cookie } })
  expect(live.headers.get('content-type')).toStartWith('text/event-stream')
  const reader = (live.body as ReadableStream<Uint8Array>).getReader()
  return async (requestId: string) => {
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes(requestId)) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`the live tail ended: ${text}`)
      text += decoder.decode(value, { stream: true })
    }
    await reader.cancel()
  }
}

test('the link signs in, a key calls the sandbox, the receipt adds up, and kill -9 changes nothing', async () => {
  const server = await startServer()
  const link = /http\S+\/api\/auth\/link\S+/.exec(server.stdout)?.[0] ?? ''
  const cookie = await signIn(link)
  const me = await ask(server, cookie, '/api/me')
  expect(me.json).toMatchObject({ id: 'default', role: 'admin' })

  const key = await ask(server, cookie, '/api/keys', { name: 'laptop', group: 'default' })
  expect([key.status, key.json.account]).toEqual([201, 'default'])

  const settled = await follow(server, cookie)
  const chat = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.json.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sandbox/chat',
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  expect(chat.status).toBe(200)
  const requestId = chat.headers.get('x-request-id') ?? ''
  await settled(requestId)
  const { json } = await ask(server, cookie, `/api/requests/${requestId}`)
  const { lines, roundingNano, totalNano, chargeNano, writeoffNano } = json.receipt
  const sum = lines.reduce((total: bigint, line: Line) => total + BigInt(line.amountNano), 0n)
  expect(sum + BigInt(roundingNano)).toBe(BigInt(totalNano))
  expect(BigInt(chargeNano) + BigInt(writeoffNano)).toBe(BigInt(totalNano))
  expect(chargeNano).toBe(json.chargeNano)
  expect(BigInt(chargeNano)).toBeGreaterThan(0n)

  const twice = await fetch(link, { redirect: 'manual' })
  expect(twice.status).toBe(400)
  await server.kill()
  const again = await startServer(server.dataDir)
  expect(await ask(again, cookie, `/api/requests/${requestId}`)).toMatchObject({
    status: 200,
    json: { receipt: { totalNano } },
  })
  await again.kill()
  again.remove()
})
