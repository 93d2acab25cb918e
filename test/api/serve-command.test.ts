// Tests `tollgate serve` with wrong input: one message, the right exit code, never a stack trace.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { program } from '../support/command-line.ts'

async function serve(...words: string[]) {
  const child = Bun.spawn([program, 'serve', ...words], {
    env: { PATH: Bun.env['PATH'] ?? '', HOME: Bun.env['HOME'] ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, errors, code }
}

test.each(['--help', '-h'])('%s tells of its flags and starts nothing', async (flag) => {
  const { out, errors, code } = await serve(flag)
  expect(code).toBe(0)
  expect(out).toContain('Usage: tollgate serve')
  expect(out).toContain('--port N')
  expect(errors).toBe('')
})

test.each([[['--bogus']], [['extra']], [['--port', 'abc']], [['--workers=0']], [['--data']]])(
  'flags that are wrong end with 2: %p',
  async (words) => {
    const { errors, code } = await serve(...words)
    expect(code).toBe(2)
    expect(errors).toContain(words[0]?.split('=')[0] ?? '')
    expect(errors).not.toMatch(/\n\s+at /)
  },
)

test('a configuration that is wrong ends with 1', async () => {
  const { errors, code } = await serve('--config', '/nonexistent.yaml')
  expect(code).toBe(1)
  expect(errors).toBe(
    'The configuration /nonexistent.yaml is refused:\n  the file does not exist\n',
  )
})

test.each([[[]], [['--workers', '2']]])(
  'a data directory that cannot be made is named in one line, with %p',
  async (words) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-serve-'))
    const file = join(folder, 'file')
    writeFileSync(file, '')
    for (const [path, reason] of [
      ['/proc/tollgate', 'it does not exist and cannot be made here'],
      [file, 'it is a file, not a folder'],
      [join(file, 'data'), 'a part of its path is a file, not a folder'],
    ] as const) {
      const { errors, code } = await serve('--data', path, '--port', '0', ...words)
      expect(errors).toBe(
        `Cannot use the data directory ${path}: ${reason}. Name another with --data.\n`,
      )
      expect(code).toBe(1)
    }
    rmSync(folder, { recursive: true })
  },
)
