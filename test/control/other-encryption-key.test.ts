// Tests repeats of requests to the control API on a server whose encryption key is not the first one's.

import { expect, test } from 'bun:test'
import { runCommand } from '../support/command-line.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

test('a repeat is refused, and is not run again', async () => {
  const withKey = (dataDir: string | undefined, letter: string) =>
    startServer(dataDir, { env: { ENCRYPTION_KEY: letter.repeat(32) } })
  let server = await withKey(undefined, 'a')
  try {
    const { dataDir } = server
    const words = ['management-key', 'create', '--name', 'ops', '--scopes', 'write', '--json']
    const { out } = await runCommand([...words, '--data', dataDir], dataDir)
    const { secret } = JSON.parse(out)
    const credit = () => creditOnce(server, secret)
    expect((await credit()).status).toBe(200)
    await server.kill()

    server = await withKey(dataDir, 'b')
    const again = await credit()
    expect([again.status, await again.json()]).toMatchObject([
      409,
      { code: 'conflict', field: 'Idempotency-Key' },
    ])
    expect(server.stderr).not.toContain('secret-box')
    await server.kill()

    server = await withKey(dataDir, 'a')
    const same = await credit()
    expect([same.status, same.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(await same.json()).toMatchObject({ posted: true })
  } finally {
    await server.kill()
    server.remove()
  }
})

function creditOnce({ url }: ServerProcess, secret: string): Promise<Response> {
  return fetch(`${url}/api/accounts/default/adjustments`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'idempotency-key': 'credit-of-november',
    },
    body: JSON.stringify({ amount: '1', direction: 'credit', reason: 'a gift' }),
  })
}
