// Measures the source (`npm run measure`): lines, files, the largest interfaces and classes, and what one request runs.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import { bun, root, setupOrExit } from './setup.mjs'

if (process.versions.bun === undefined) {
  setupOrExit({ development: true })
  const args = [import.meta.filename, ...process.argv.slice(2)]
  process.exit(spawnSync(bun, args, { cwd: root, stdio: 'inherit' }).status ?? 1)
}

const largest = 8
/** Timers run too: a file counts only if each of this many requests runs it. */
const rounds = 5

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' }
const openaiEvents = [
  { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' } }] },
  { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  {
    ...chunk,
    choices: [],
    usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 },
  },
  '[DONE]',
]
const anthropicEvents = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]

const sources = readdirSync(join(root, 'src'), { recursive: true })
  .filter((path) => /\.ts$/.test(path) && !/\.(test|d)\.ts$/.test(path))
  .map((path) => ({ path, lines: readFileSync(join(root, 'src', path), 'utf8').split('\n') }))

const isCode = (line) => !/^\s*(\/\/|\/?\*|$)/.test(line)
const all = sources.flatMap(({ lines }) => lines.slice(0, -1))
console.log(
  `lines        ${all.length}, ${all.filter(isCode).length} without comments and blank ones`,
)
console.log(`files        ${sources.length}`)
for (const kind of ['interface', 'class']) console.log(membersOf(kind))
for (const [model, path] of [
  ['gpt-4o-mini', 'identity'],
  ['claude-sonnet-4-5', 'translated'],
]) {
  const files = await filesOfRequest(model)
  console.log(`${`${path} path`.padEnd(16)} ${files.length} files`)
  if (process.argv.includes('--files')) for (const file of files) console.log(`  ${file}`)
}

/** Biome formats the sources, so each member begins on its own line, indented by two blanks. */
function membersOf(kind) {
  const member = /^ {2}(?:(?:readonly|private|protected|static|async|get|set) )*[*#]?\w+\??[(:<= ]/
  const method = /^ {2}[^(:=]*(?:\w\??(?:<.*>)?|: )\(/
  const opening = new RegExp(`^(?:export )?(?:abstract )?${kind} (\\w+).*[^}]$`)
  const found = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, start) => {
      const name = opening.exec(line)?.[1]
      if (name === undefined) return []
      const members = lines
        .slice(start + 1, lines.indexOf('}', start))
        .filter((each) => member.test(each))
      return [
        {
          name,
          path,
          all: members.length,
          methods: members.filter((each) => method.test(each)).length,
        },
      ]
    }),
  )
  const first = found.toSorted((a, b) => b.methods - a.methods || b.all - a.all).slice(0, largest)
  return [
    `methods and members of the largest of ${found.length} (${kind}):`,
    ...first.map(({ name, path, all, methods }) => `  ${methods} of ${all} ${name}, ${path}`),
  ].join('\n')
}

/** Files whose code runs between a request's arrival and its record in the outbox, by the runtime's counters. */
async function filesOfRequest(model) {
  const { startGateway } = await import('../test/support/gateway.ts')
  const vendor = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: vendorsReply })
  const port = await freePort()
  const channel = (id, models) => ({ id, vendor: id, baseUrl: `${vendor.url}v1`, key: 'k', models })
  const [counters, gateway] = await Promise.all([
    connect(`ws://127.0.0.1:${port}/measure`),
    startGateway({
      config: {
        channels: [channel('openai', ['gpt-4o-mini']), channel('anthropic', ['claude-sonnet-4-5'])],
      },
      flags: [`--inspect-wait=127.0.0.1:${port}/measure`],
    }),
  ])
  try {
    // Code that is loaded or run only at first use is not counted.
    await answered(gateway, model)
    let files = null
    for (let round = 0; round < rounds; round += 1) {
      const before = await counters.read()
      await answered(gateway, model)
      const after = await counters.read()
      const ran = [...after.keys()].filter((path) => after.get(path) !== before.get(path))
      files = files === null ? ran : files.filter((path) => ran.includes(path))
    }
    return files.sort()
  } finally {
    counters.close()
    await gateway.stop()
    await vendor.stop()
  }
}

async function answered(gateway, model) {
  const messages = [{ role: 'user', content: 'Hello' }]
  const response = await gateway.post('/v1/chat/completions', { model, messages, stream: true })
  const text = await response.text()
  if (!text.endsWith('data: [DONE]\n\n')) throw new Error(`no whole stream: ${text}`)
}

function vendorsReply(request) {
  const isAnthropic = new URL(request.url).pathname.endsWith('/messages')
  const events = isAnthropic ? anthropicEvents : openaiEvents
  const body = events.map((event) => {
    const data = typeof event === 'string' ? event : JSON.stringify(event)
    return isAnthropic ? `event: ${event.type}\ndata: ${data}\n\n` : `data: ${data}\n\n`
  })
  return new Response(body.join(''), { headers: { 'content-type': 'text/event-stream' } })
}

/** Connects to the inspector of a process that waits for it before it begins. */
async function connect(address) {
  const socket = await opened(address)
  const scripts = new Map()
  const waiting = new Map()
  let last = 0
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(data)
    if (method === 'Debugger.scriptParsed') scripts.set(params.scriptId, params.url)
    const wait = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) wait?.resolve(result)
    else wait?.reject(new Error(error.message))
  }
  const ask = (method, params = {}) => {
    last += 1
    waiting.set(last, Promise.withResolvers())
    socket.send(JSON.stringify({ id: last, method, params }))
    return waiting.get(last).promise
  }
  await ask('Debugger.enable')
  await ask('Runtime.enableControlFlowProfiler')
  await ask('Inspector.initialized')
  return {
    /** How often the blocks of each file ran, in total. */
    async read() {
      const counts = new Map()
      for (const [sourceID, path] of scripts) {
        if (!path.startsWith(join(root, 'src'))) continue
        const { basicBlocks } = await ask('Runtime.getBasicBlocks', { sourceID })
        const count = basicBlocks.reduce((sum, { executionCount }) => sum + executionCount, 0)
        counts.set(relative(root, path), count)
      }
      return counts
    },
    close: () => socket.close(),
  }
}

/** The process does not report when it listens, so it is polled. */
async function opened(address) {
  for (let left = 200; ; left -= 1) {
    const { promise, resolve } = Promise.withResolvers()
    const socket = new WebSocket(address)
    socket.onopen = () => resolve(true)
    socket.onclose = () => resolve(false)
    if (await promise) return socket
    if (left === 0) throw new Error(`nobody listens at ${address}`)
    await Bun.sleep(50)
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
