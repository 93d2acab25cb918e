// Tests command lines that contradict themselves, and what names the part at fault.

import { afterAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { makeDirectory } from './contract/databases.ts'
import { runCommand } from './support/command-line.ts'

const directory = makeDirectory()
afterAll(() => directory.remove())
const run = (...words: readonly string[]) => runCommand([...words, '--data', '.'], directory.path)
const gift = ['account', 'credit', 'ann', '5', '--create', '--reason', 'a gift']

test('an option given twice with different values is refused, and nothing is done', async () => {
  expect(await run(...gift, '--reference', 'r1', '--reference', 'r2')).toEqual({
    code: 2,
    out: '',
    err: 'tollgate: --reference was given twice\n',
  })
  expect((await run('balance', 'ann')).code).toBe(1)
  const same = await run(...gift, '--reason', 'a gift', '--data', '/nowhere')
  expect([same.code, same.err]).toEqual([0, expect.stringContaining('Credited 5 USD')])
  expect((await run('balance', 'ann')).out).toMatch(/^ann +USD +5 /m)
})

test('what a channel is refused for is named by its option', async () => {
  const create = async (...words: readonly string[]) =>
    (await run('channel', 'create', 'spare', '--vendor', 'openai', ...words)).err
  expect(await create('--base-url', 'file:///etc/passwd')).toMatch(
    /^tollgate: --base-url file:\/\/\/etc\/passwd: expected an http or https address/,
  )
  expect(await create('--set', '{"concurrency":"x"}')).toMatch(
    /^tollgate: --set: concurrency: expected a whole number/,
  )
  expect(await create('--set', '{"colour":1}')).toBe('tollgate: --set: colour: is not known here\n')
})

test.skipIf(!existsSync('/dev/zero'))('a file that never ends is refused', async () => {
  for (const words of [
    ['price', 'import', '--file', '/dev/zero'],
    ['catalog', 'update', '--from', '/dev/zero'],
  ])
    expect(await run(...words)).toEqual({
      code: 1,
      out: '',
      err: 'tollgate: Cannot read /dev/zero: it has more than 67108864 bytes\n',
    })
})
