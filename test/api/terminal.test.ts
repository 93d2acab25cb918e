// Tests a server in the foreground of a real terminal: Ctrl-C, a second Ctrl-C, and a terminal that is closed.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authorized, eventually } from '../support/clients.ts'
import { postJson } from '../support/requests.ts'

const root = join(import.meta.dir, '..', '..')
const controlC = '\x03'
const keyForm = /sk-tg-[0-9A-Za-z]{38}/

interface Terminal {
  readonly url: string
  readonly secret: string
  /** The output that it has shown so far. */
  readonly shown: string
  /** Resolves when the command has ended, with its exit code. */
  readonly exited: Promise<number>
  press(key: string): void
  /** Ends the terminal as when its window is closed. */
  close(): void
}

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** Runs a command on a new pseudo terminal until it shows a first call. */
async function open(command: string): Promise<Terminal> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-terminal-'))
  const child = Bun.spawn(
    ['script', '-qfec', `${command} --data ${dataDir} --port 0`, '/dev/null'],
    {
      cwd: root,
      env: {
        PATH: Bun.env['PATH'] ?? '',
        HOME: Bun.env['HOME'] ?? '',
        LOG_LEVEL: 'info',
        TOLLGATE_CONSOLE: 'off',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  stops.push(() => {
    child.kill('SIGKILL')
    rmSync(dataDir, { recursive: true, force: true })
  })
  let shown = ''
  const serves = Promise.withResolvers<void>()
  void (async () => {
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout) {
      shown += decoder.decode(bytes, { stream: true })
      if (shown.includes('-d ')) serves.resolve()
    }
    serves.reject(new Error(`it ended before it served: ${shown}`))
  })()
  await serves.promise
  return {
    url: /listens on (http:\S+)/.exec(shown)?.[1] ?? '',
    secret: keyForm.exec(shown)?.[0] ?? '',
    get shown() {
      return shown
    },
    exited: child.exited,
    press(key) {
      child.stdin.write(key)
      child.stdin.flush()
    },
    close: () => child.kill('SIGKILL'),
  }
}

/** A running stream, its first bytes read; `rest` is what follows. */
async function stream({ url, secret }: Terminal, tokens: number) {
  const reply = await postJson(
    `${url}/v1/chat/completions`,
    {
      model: `sandbox/chat+tokens=${tokens}+gap=50`,
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    },
    authorized(secret),
  )
  const reader = (reply.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  const rest = (async () => {
    const decoder = new TextDecoder()
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += decoder.decode(value, { stream: true })
    }
  })()
  return { rest }
}

const commands = ['npm start --', 'bin/tollgate serve', 'bin/tollgate serve --workers 2']

test.each(commands)('one Ctrl-C drains: %s', async (command) => {
  const terminal = await open(command)
  const { rest } = await stream(terminal, 30)
  terminal.press(controlC)
  expect(await rest).toEndWith('data: [DONE]\n\n')
  await terminal.exited
  expect(terminal.shown).toContain('draining')
  expect(terminal.shown).not.toMatch(/cut off|\n\s+at /)
})

test('a second Ctrl-C within the same second is the same one; a later one stops at once', async () => {
  const terminal = await open('npm start --')
  const { rest } = await stream(terminal, 600)
  const startedMs = performance.now()
  const pressing = setInterval(() => terminal.press(controlC), 100)
  const text = await rest.catch(() => '')
  clearInterval(pressing)
  expect(performance.now() - startedMs).toBeGreaterThan(900)
  expect(text).not.toContain('[DONE]')
  await terminal.exited
  expect(terminal.shown).toContain('asked to stop again: running requests are cut off')
})

test.each(commands)('a closed terminal ends it: %s', async (command) => {
  const terminal = await open(command)
  terminal.close()
  const refused = await eventually(() =>
    fetch(`${terminal.url}/healthz`).then(
      () => undefined,
      (error: Error) => error,
    ),
  )
  expect(refused).toBeInstanceOf(Error)
})
