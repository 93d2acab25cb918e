/** The gateways under test: how each is configured, started on its core, and addressed. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fillKeys } from './keys.ts'
import type { Target } from './load.ts'
import { type Mock, type Route, routeOf } from './mock.ts'
import { GATEWAY_CORE, type Spawned, spawnPinned } from './processes.ts'
import type { Tools } from './setup.ts'
import { freePort, untilAnswers } from './wait.ts'

export const VALID_KEY = 'sk-tg-bench0000000000000000000000000000000'

export interface Running {
  /** Undefined for the direct column, which has no process. */
  pid: number | undefined
  /** From the spawn to the first 200. */
  readyMs: number
  target(model: string): Target
  stop(): Promise<void>
}

export interface Gateway {
  name: string
  label: string
  /** Whether the vendor's bytes must arrive as they were sent; else JSON of the same meaning will do. */
  strict: boolean
  /** Whether it checks keys, so that a key flood is a workload for it. */
  checksKeys: boolean
  /** Folder of the checkout whose CLI reads the usage rows. */
  checkout?: string
  /** Highest fixed rate that is sent to it, requests/s; 0 for none. */
  fixedRate: number
  start(data: string): Promise<Running>
}

function openai(
  port: number,
  prefix: string,
  { path }: Route,
  headers: Record<string, string>,
): Target {
  return { port, path: `${prefix}/v1${path}`, headers }
}

const authorization = { authorization: `Bearer ${VALID_KEY}` }

function direct(mock: Mock): Gateway {
  return {
    name: 'direct',
    label: 'direct',
    strict: true,
    checksKeys: false,
    fixedRate: 0,
    start: async () => ({
      pid: undefined,
      readyMs: 0,
      target: (model) => openai(mock.port, `/${model}`, routeOf(mock, model), authorization),
      stop: async () => undefined,
    }),
  }
}

async function launch(
  command: string,
  args: string[],
  data: string,
  url: string,
  env?: Record<string, string>,
): Promise<{ server: Spawned; readyMs: number }> {
  const log = join(data, 'server.log')
  const options = { core: GATEWAY_CORE, cwd: data, log }
  const begin = performance.now()
  const server = spawnPinned(command, args, env === undefined ? options : { ...options, env })
  const readyMs = await untilAnswers(server, url, authorization, log, begin)
  return { server, readyMs }
}

function haproxy(mock: Mock): Gateway {
  const configuration = (port: number) => `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  no log
  http-reuse always
  # Else events wait up to 200 ms for company (MSG_MORE), which no client of a stream would accept.
  option http-no-delay
  timeout connect 5s
  timeout client 600s
  timeout server 600s
frontend front
  bind 127.0.0.1:${port} backlog 4096
  default_backend back
backend back
  server mock 127.0.0.1:${mock.port}
`
  const start = async (data: string): Promise<Running> => {
    const port = await freePort()
    const file = join(data, 'haproxy.cfg')
    writeFileSync(file, configuration(port))
    const url = `http://127.0.0.1:${port}/v1/models`
    const { server, readyMs } = await launch('haproxy', ['-db', '-f', file], data, url)
    const target = (model: string) => openai(port, `/${model}`, routeOf(mock, model), authorization)
    return { pid: server.pid, readyMs, target, stop: server.stop }
  }
  const about = { strict: true, checksKeys: false, fixedRate: 3000 }
  return { name: 'haproxy', label: 'HAProxy', ...about, start }
}

/** A proxy of bytes on Tollgate's runtime, which reads nothing of them: what is above it is Tollgate's own. */
function pump(mock: Mock, root: string): Gateway {
  const script = join(root, 'bench/rig/pump.ts')
  const start = async (data: string): Promise<Running> => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/v1/models`
    const args = [script, String(port), String(mock.port)]
    const { server, readyMs } = await launch(process.execPath, args, data, url)
    const target = (model: string) => openai(port, `/${model}`, routeOf(mock, model), authorization)
    return { pid: server.pid, readyMs, target, stop: server.stop }
  }
  const about = { strict: true, checksKeys: false, fixedRate: 3000 }
  return { name: 'pump', label: 'Pump', ...about, start }
}

function portkey(mock: Mock, script: string): Gateway {
  const start = async (data: string): Promise<Running> => {
    const port = await freePort()
    const args = [script, `--port=${port}`, '--headless']
    const { server, readyMs } = await launch('node', args, data, `http://127.0.0.1:${port}/`)
    const target = (model: string) =>
      openai(port, '', routeOf(mock, model), {
        ...authorization,
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${mock.port}/${model}/v1`,
      })
    return { pid: server.pid, readyMs, target, stop: server.stop }
  }
  const about = { strict: false, checksKeys: false, fixedRate: 0 }
  return { name: 'portkey', label: 'Portkey', ...about, start }
}

/** The JSON of `peer:FILE`. In its texts {port}, {mock} and {data} are filled in for this run, in `prefix` also {model}. */
interface PeerFile {
  label: string
  command: string
  args: string[]
  env?: Record<string, string>
  /** Texts of files that are written into {data} first, by name. */
  files?: Record<string, string>
  /** The path that answers 200 once the gateway serves. */
  ready: string
  /** Before `/v1/...`. */
  prefix?: string
  headers?: Record<string, string>
}

/** Any other gateway whose program is on this machine. Throws if its file cannot be read. */
function peer(mock: Mock, path: string): Gateway {
  const file = JSON.parse(readFileSync(path, 'utf8')) as PeerFile
  const start = async (data: string): Promise<Running> => {
    const port = await freePort()
    const known: Record<string, string> = { port: String(port), mock: String(mock.port), data }
    const filled = (text: string) =>
      text.replaceAll(/\{(\w+)\}/g, (all, name) => known[name] ?? all)
    for (const [name, text] of Object.entries(file.files ?? {}))
      writeFileSync(join(data, name), filled(text))
    const env = Object.fromEntries(
      Object.entries(file.env ?? {}).map(([name, text]) => [name, filled(text)]),
    )
    const url = `http://127.0.0.1:${port}${file.ready}`
    const { server, readyMs } = await launch(file.command, file.args.map(filled), data, url, env)
    const prefix = file.prefix ?? ''
    const headers = { ...authorization, ...file.headers }
    const target = (model: string) =>
      openai(port, prefix.replaceAll('{model}', model), routeOf(mock, model), headers)
    return { pid: server.pid, readyMs, target, stop: server.stop }
  }
  const about = { strict: false, checksKeys: false, fixedRate: 3000 }
  return { name: `peer:${path}`, label: file.label, ...about, start }
}

/** By operation. */
const modelEntries: Record<string, string> = {
  '/images/generations': '{ kind: image, prices: { image: "40000" } }',
  '/embeddings': '{ kind: embedding, prices: { input: "0.02" } }',
  '': '{ kind: chat, context: 1000000, prices: { input: "0.15", cachedInput: "0.075", output: "0.60" } }',
}

/** What `tollgate?keys=1000&channels=50&workers=2` asks for. */
interface Breadth {
  /** Number of keys in the store, beside the one that is used. */
  keys: number
  /** Number of channels that serve each model, at equal priority. */
  channels: number
  workers: number
}

const narrow: Breadth = { keys: 0, channels: 1, workers: 1 }

/** Throws an Error for an unknown name or an invalid number. */
function breadthOf(query: string): Breadth {
  const breadth = { ...narrow }
  for (const [name, text] of new URLSearchParams(query)) {
    const value = Number(text)
    if (!Object.hasOwn(narrow, name) || !Number.isSafeInteger(value) || value < 0)
      throw new Error(`--gateways: ${name}=${text} is none of ${Object.keys(narrow).join(', ')}`)
    breadth[name as keyof Breadth] = value
  }
  return breadth
}

function tollgateConfiguration(mock: Mock, { channels }: Breadth): string {
  const routes = [...mock.routes.values()].flatMap((route) =>
    Array.from({ length: channels }, (_, number) => ({ ...route, number })),
  )
  const channel = ({ model, number }: Route & { number: number }) => `  - id: ${model}-${number}
    vendor: openai
    baseUrl: http://127.0.0.1:${mock.port}/${model}/v1
    key: sk-mock-key
    models: [${model}]
    groups: [default]
    priority: 0
    weight: 1`
  const entry = ({ model, path }: Route) => `  ${model}: ${modelEntries[path] ?? modelEntries['']}`
  return `currency: USD
groups:
  default: { multiplier: "1", models: ["*"] }
channels:
${routes.map(channel).join('\n')}
models:
${[...mock.routes.values()].map(entry).join('\n')}
accounts:
  bench: { credit: "10000000" }
keys:
  - { name: bench, account: bench, group: default, secret: "${VALID_KEY}" }
`
}

/** Builds what a start would build first after a change of sources; older versions have nothing to build. */
function makeProgram(checkout: string): void {
  const script = join(checkout, 'scripts/program.mjs')
  if (existsSync(script)) execFileSync('node', [script], { stdio: 'inherit' })
}

function tollgate(name: string, checkout: string, mock: Mock, breadth: Breadth): Gateway {
  const start = async (data: string): Promise<Running> => {
    const port = await freePort()
    const file = join(data, 'tollgate.yaml')
    writeFileSync(file, tollgateConfiguration(mock, breadth))
    const dataDir = join(data, 'data')
    if (breadth.keys > 0 && !existsSync(dataDir)) await fillKeys(dataDir, breadth.keys)
    const options = ['--config', file, '--data', dataDir, '--port', String(port)]
    if (breadth.workers > 1) options.push('--workers', String(breadth.workers))
    // LOG_LEVEL of the caller takes precedence; a log line for each request would be work that the others do not do.
    const env = {
      BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
      LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn',
      // Nothing may be built during the measurement.
      TOLLGATE_CONSOLE: 'off',
    }
    const command = join(checkout, 'bin/tollgate')
    const url = `http://127.0.0.1:${port}/v1/models`
    const { server, readyMs } = await launch(command, ['serve', ...options], data, url, env)
    const target = (model: string) => openai(port, '', routeOf(mock, model), authorization)
    return { pid: server.pid, readyMs, target, stop: server.stop }
  }
  const about = { strict: true, checksKeys: true, fixedRate: 3000, checkout }
  return { name, label: labelOf(name, checkout), ...about, start }
}

function labelOf(name: string, checkout: string): string {
  const [place = '', query] = name.split('?')
  const label = place === 'tollgate' ? 'Tollgate' : `Tollgate in ${basename(checkout)}`
  return query === undefined ? label : `${label}, ${query.replaceAll('&', ', ')}`
}

/**
 * The gateways by name, in the order asked. Those that cannot run are left out and their reason is
 * added to `tools.missing`. Throws an Error on a name that is none.
 */
export function findGateways(names: string[], root: string, mock: Mock, tools: Tools): Gateway[] {
  return names.flatMap((name) => {
    if (name === 'direct') return [direct(mock)]
    if (name === 'haproxy') {
      if (!tools.haproxy) tools.missing.push('haproxy: it is not installed')
      return tools.haproxy ? [haproxy(mock)] : []
    }
    if (name === 'pump') return [pump(mock, root)]
    if (name === 'portkey') {
      return tools.portkey === undefined ? [] : [portkey(mock, tools.portkey)]
    }
    const [place = '', query = ''] = name.split('?')
    const [kind, folder] = place.split(':')
    if (kind === 'peer' && folder !== undefined) return [peer(mock, resolve(root, folder))]
    if (kind !== 'tollgate') {
      throw new Error(
        `--gateways: unknown gateway ${name} (known: direct, haproxy, pump, portkey, tollgate, tollgate:DIR, peer:FILE)`,
      )
    }
    const checkout = folder === undefined ? root : resolve(root, folder)
    if (!existsSync(join(checkout, 'bin/tollgate'))) {
      tools.missing.push(`${name}: there is no bin/tollgate`)
      return []
    }
    makeProgram(checkout)
    return [tollgate(name, checkout, mock, breadthOf(query))]
  })
}

/** A folder for one start of a gateway. */
export function makeDataFolder(parent: string, name: string): string {
  const folder = join(parent, name.replaceAll(/[^a-z0-9-]/g, '_'))
  mkdirSync(folder, { recursive: true })
  return folder
}
