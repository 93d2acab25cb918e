// Tests starts on an address that cannot be listened on: the server ends with one line that says why.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../contract/databases.ts'
import { runCommand } from '../support/command-line.ts'

async function refusal(
  host: string,
  port: number,
  { more = [], file = null }: { more?: readonly string[]; file?: string | null } = {},
): Promise<string> {
  const directory = makeDirectory()
  try {
    const words = ['serve', '--no-console', '--host', host, '--port', String(port), ...more]
    if (file !== null) {
      const path = join(directory.path, 'tollgate.yaml')
      writeFileSync(path, file)
      words.push('--config', path)
    }
    const { code, out, err } = await runCommand(words, directory.path)
    expect([code, out]).toEqual([1, ''])
    return err
  } finally {
    directory.remove()
  }
}

test('a port that another program uses', async () => {
  using other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = other
  const reason = `Cannot listen on 127.0.0.1:${port}: the port is in use\n`
  expect(await refusal('127.0.0.1', port)).toBe(reason)
  const file = `server: { healthPort: ${port} }`
  expect(await refusal('127.0.0.1', 0, { file })).toBe(reason)
})

test('a port that another program uses, for several workers', async () => {
  using other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const { port } = other
  const reason = `Cannot listen on 127.0.0.1:${port}: the port is in use\n`
  expect(await refusal('127.0.0.1', port, { more: ['--workers', '2'] })).toBe(reason)
})

test('an address of another machine', async () => {
  const reason = 'Cannot listen on 192.0.2.1:0: this machine does not have the address\n'
  expect(await refusal('192.0.2.1', 0)).toBe(reason)
})
