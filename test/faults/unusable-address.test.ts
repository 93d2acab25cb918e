// Tests starts on an address that cannot be listened on: the server ends with one line that says why.

import { expect, test } from 'bun:test'
import { makeDirectory } from '../contract/databases.ts'
import { runCommand } from '../support/command-line.ts'

async function refusal(host: string, port: number): Promise<string> {
  const directory = makeDirectory()
  try {
    const words = ['serve', '--no-console', '--host', host, '--port', String(port)]
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
})

test('an address of another machine', async () => {
  const reason = 'Cannot listen on 192.0.2.1:0: this machine does not have the address\n'
  expect(await refusal('192.0.2.1', 0)).toBe(reason)
})
