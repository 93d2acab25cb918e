// Runs one agent once against one vendor through its own gateway, and collects the result on all three sides.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Gateway, startGateway } from '../support/gateway.ts'
import type { Agent } from './agents.ts'
import { type Format, type Script, ScriptedVendor, type Seen } from './vendor.ts'
import { picture, pictureFile, resultFile, resultText } from './work.ts'

export interface Setting {
  readonly agent: Agent
  readonly format: Format
  readonly script: Script
  readonly prompt: string
  readonly picture: boolean
  /** Keys that are pressed once the vendor has stopped sending. */
  readonly cancels: boolean
  readonly limitMs: number
  readonly installed: string
}

export interface Outcome {
  /** Null if it had to be killed. */
  readonly exitCode: number | null
  readonly output: string
  readonly durationMs: number
  readonly seen: Seen
  /** The content of the file that was to be written; null if there is none. */
  readonly written: string | null
  readonly statuses: readonly number[]
  /** The amount still held at the end, in billionths. */
  readonly heldNano: string
  readonly gatewayLog: string
}

export const lastWords = 'All is done, said the model'
export const refusalWords = 'the scripted vendor declines this'

/** Vendors' names of models that have every ability. */
const vendorModels: Readonly<Record<string, string>> = {
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-flash',
  'cohere-v2': 'command-a-vision',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5',
}

const vendor = new ScriptedVendor()
let runs = 0

export async function runOne(setting: Setting): Promise<Outcome> {
  const { agent, format, script } = setting
  const root = mkdtempSync(join(tmpdir(), 'tollgate-agent-'))
  const folder = join(root, 'work')
  const home = join(root, 'home')
  mkdirSync(folder)
  mkdirSync(home)
  writeFileSync(join(folder, pictureFile), Buffer.from(picture, 'base64'))
  const last =
    agent.writesBy === 'text' && script.kind === 'write'
      ? `${resultFile}\n\`\`\`\n${resultText}\n\`\`\`\n\n${lastWords}`
      : lastWords
  const { url, seen } = vendor.begin(`run${++runs}`, {
    format,
    script,
    last,
    refusal: refusalWords,
    folder,
  })
  const gateway = await startGateway({ config: configOf(agent, format, url) })
  try {
    const place = { home, folder, url: gateway.url, key: gateway.key, installed: setting.installed }
    const ended = await played(setting, place, seen)
    const rows = await settled(gateway)
    return {
      ...ended,
      seen,
      written: contentOf(join(folder, resultFile)),
      statuses: rows.statuses,
      heldNano: rows.heldNano,
      gatewayLog: gateway.stderr,
    }
  } finally {
    await gateway.stop()
    endLeftBehind(home)
    rmSync(root, { recursive: true, force: true })
  }
}

export function stopVendor(): Promise<void> {
  return vendor.stop()
}

function configOf(agent: Agent, { id, vendor: name }: Format, baseUrl: string) {
  const own = vendorModels[id]
  return {
    channels: [
      {
        id,
        vendor: name,
        dialect: id,
        baseUrl,
        key: 'vendor-key',
        options: name === 'bedrock' ? { region: 'us-east-1' } : {},
        models: own === undefined ? [agent.model] : { [agent.model]: own },
      },
    ],
    models: { [agent.model]: { vision: true, prices: { input: '1', output: '2' } } },
  }
}

type Ended = Pick<Outcome, 'exitCode' | 'output' | 'durationMs'>

async function played(
  { agent, prompt, picture: shows, cancels, limitMs }: Setting,
  place: Parameters<Agent['command']>[1],
  seen: Seen,
): Promise<Ended> {
  const { words, env = {} } = agent.command(prompt, place, shows)
  const startedMs = performance.now()
  const child = Bun.spawn([...words], {
    cwd: place.folder,
    env: environment(place.home, env),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    // A separate process group: a signal also reaches the processes that it started, as from a terminal.
    detached: true,
  })
  const signal = (name: NodeJS.Signals) => tell(-child.pid, name)
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  let killed = false
  const timers = [
    setTimeout(() => {
      killed = true
      signal('SIGKILL')
    }, limitMs),
  ]
  if (cancels) {
    await Promise.race([seen.silent.promise, child.exited])
    signal('SIGINT')
    // Some agents ask to be told twice.
    timers.push(setTimeout(() => signal('SIGINT'), 2_000))
    await Promise.race([seen.left.promise, child.exited])
  }
  const code = await child.exited
  for (const timer of timers) clearTimeout(timer)
  // A process that it left running keeps its output open.
  signal('SIGKILL')
  const [stdout, stderr] = await output
  return {
    exitCode: killed ? null : code,
    output: `${stdout}\n${stderr}`,
    durationMs: performance.now() - startedMs,
  }
}

/** Signals a process or, below zero, a group; one that has ended is ignored. */
function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/**
 * Daemons that an agent left in other groups, found by the home directory they were given. Without /proc, none is
 * found.
 */
function endLeftBehind(home: string): void {
  if (!existsSync('/proc')) return
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (Number.isNaN(pid) || !environmentOf(pid).includes(`HOME=${home}`)) continue
    tell(pid, 'SIGKILL')
  }
}

/** None if the process has ended or belongs to another user. */
function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/** There is no proxy at this address: any call of an agent to another host than the gateway fails at once. */
function environment(home: string, more: Readonly<Record<string, string>>) {
  const nowhere = 'http://127.0.0.1:9'
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    SHELL: '/bin/bash',
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    http_proxy: nowhere,
    https_proxy: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    DO_NOT_TRACK: '1',
    ...more,
  }
}

/** Waits until something is recorded and nothing is held any more, at most a few seconds. */
async function settled(gateway: Gateway) {
  const deadlineMs = performance.now() + 5_000
  for (;;) {
    const reply = await fetch(`${gateway.url}/api/me/balance`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    const { heldNano } = (await reply.json()) as { heldNano: string }
    const rows = await gateway.usage()
    const isOver = heldNano === '0' && rows.length > 0
    if (isOver || performance.now() > deadlineMs) {
      return { heldNano, statuses: rows.map(({ status }) => status) }
    }
    await Bun.sleep(50)
  }
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
