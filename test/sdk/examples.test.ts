// Tests that every example runs as its opening comment says, on a gateway without configuration.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Gateway, startGateway } from '../support/gateway.ts'

const folder = join(import.meta.dir, '..', '..', 'examples')
let gateway: Gateway

beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

async function run(file: string, key = gateway.key): Promise<{ out: string; code: number }> {
  const program = file.endsWith('.sh') ? 'sh' : process.execPath
  const own = file === 'media.ts' ? [mkdtempSync(join(tmpdir(), 'tollgate-media-'))] : []
  const child = Bun.spawn([program, join(folder, file), ...own], {
    cwd: folder,
    env: {
      PATH: Bun.env['PATH'] ?? '',
      TOLLGATE_URL: `${gateway.url}/v1`,
      TOLLGATE_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  for (const made of own) rmSync(made, { recursive: true })
  return { out, code }
}

const expected: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'curl.sh': ['"object":"list"', '"object":"chat.completion"', 'data: [DONE]', '"embedding":['],
  'openai-sdk.ts': [
    /^whole: \S.* \d+ tokens$/m,
    /^stream: \S/m,
    /^tool: .*sunny in/m,
    'refused: 400 invalid_request_error messages',
  ],
  'media.ts': [
    /^image: \S+tollgate\.png \(\d{4,} bytes\)$/m,
    /^speech: \S+tollgate\.wav \(\d{5,} bytes\)$/m,
    /^1\n00:00:00,000 --> 00:00:0\d,\d{3}\n\S/m,
  ],
  'ai-sdk.ts': [
    /^text: \S.* \d+ tokens$/m,
    /^stream: \S/m,
    /^tool: .*sunny in/m,
    'vectors: 2 of 256',
  ],
}

const programs = readdirSync(folder).filter((file) => /\.(ts|sh)$/.test(file))

test('every example is tested', () => {
  expect(programs.sort()).toEqual(Object.keys(expected).sort())
})

test.each(programs)('%s', async (file) => {
  const { out, code } = await run(file)
  expect(code).toBe(0)
  for (const part of expected[file] ?? []) expect(out).toMatch(part)
})

test('curl.sh fails with a wrong key', async () => {
  expect((await run('curl.sh', 'sk-wrong-0123456789')).code).not.toBe(0)
})
