/** The upstream: nginx with Lua, one path prefix for each model, started with a configuration of its own. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LOAD_CORE, type Spawned, spawnPinned } from './processes.ts'
import {
  chatReply,
  chatRequest,
  code,
  embeddingsReply,
  imageReply,
  nested,
  prose,
  streamEvent,
  streamTail,
} from './texts.ts'
import { untilAnswers } from './wait.ts'

const KB = 1000
const chat = '/chat/completions'

export interface Pace {
  streams: number
  events: number
  lowMs: number
  highMs: number
}

/** One model of the mock: the request and the reply. */
export interface Route {
  model: string
  kind: 'whole' | 'echo' | 'stream'
  /** The operation, as a path below /v1. */
  path: string
  request: string
  /** The whole reply, or one event of a stream. */
  reply: string
  pace?: Pace
}

export interface Mock {
  port: number
  /** Folder with each route's texts: MODEL.request, MODEL.reply or MODEL.event and MODEL.tail. */
  folder: string
  routes: Map<string, Route>
  stop(): Promise<void>
}

/** Throws an Error if the mock has no such model. */
export function routeOf({ routes }: Pick<Mock, 'routes'>, model: string): Route {
  const route = routes.get(model)
  if (route === undefined) throw new Error(`the mock has no model ${model}`)
  return route
}

function whole(model: string, content: string, said = prose(280)): Route {
  const reply = chatReply(model, said)
  return { model, kind: 'whole', path: chat, request: chatRequest(model, content, false), reply }
}

function stream(model: string, pace: Pace): Route {
  const request = chatRequest(model, prose(700), true)
  return { model, kind: 'stream', path: chat, request, reply: streamEvent(model), pace }
}

/** Streams that last about `seconds`, with their events `low` to `high` ms apart. */
function lasting(streams: number, seconds: number, lowMs: number, highMs: number): Pace {
  const events = Math.ceil((seconds * 1000) / ((lowMs + highMs) / 2))
  return { streams, events, lowMs, highMs }
}

/** Every model of the bench. `seconds` is the length of a paced stream, `warmEvents` how many each warming one has. */
export function makeRoutes(seconds: number, warmEvents: number): Route[] {
  const echo = chatReply('bench-echo', '@SEEN@')
  const echoed = (request: string): Route => ({
    model: 'bench-echo',
    kind: 'echo',
    path: chat,
    request,
    reply: echo,
  })
  return [
    whole('bench-whole', prose(800)),
    whole('bench-flood', prose(800)),
    whole('bench-large', prose(800), prose(100 * KB)),
    whole('bench-large-code', prose(800), code(100 * KB)),
    whole('bench-prose', prose(400 * KB)),
    whole('bench-code', code(400 * KB)),
    whole('bench-nested', nested(400 * KB)),
    echoed(chatRequest('bench-echo', code(400 * KB), false)),
    {
      model: 'bench-image',
      kind: 'whole',
      path: '/images/generations',
      request: JSON.stringify({ model: 'bench-image', prompt: prose(200) }),
      reply: imageReply(2000 * KB),
    },
    {
      model: 'bench-embedding',
      kind: 'whole',
      path: '/embeddings',
      request: JSON.stringify({ model: 'bench-embedding', input: [prose(800)] }),
      reply: embeddingsReply('bench-embedding', 5000 * KB),
    },
    stream('bench-stream', lasting(200, seconds, 40, 100)),
    // The fastest pace that every gateway here can follow.
    stream('bench-warm', { streams: 200, events: warmEvents, lowMs: 10, highMs: 10 }),
    stream('bench-few', lasting(200, Math.ceil(seconds / 3), 100, 100)),
    stream('bench-many', lasting(1000, seconds + 2, 100, 100)),
    stream('bench-crowd', lasting(5000, seconds + 10, 900, 1100)),
  ]
}

function writeTexts(folder: string, route: Route): void {
  const write = (kind: string, text: string) =>
    writeFileSync(join(folder, `${route.model}.${kind}`), text)
  write('request', route.request)
  if (route.pace === undefined) {
    write('reply', route.reply)
  } else {
    write('event', route.reply)
    write('tail', streamTail(route.model, route.pace.events))
  }
}

function location(folder: string, route: Route): string {
  const { pace } = route
  const call =
    pace === undefined
      ? `${route.kind}('${folder}', '${route.model}.reply')`
      : `stream('${folder}', '${route.model}', ${pace.events}, ${pace.lowMs}, ${pace.highMs})`
  return `    location = /${route.model}/v1${route.path} {
      content_by_lua_block { require('mock').${call} }
    }`
}

function configuration(rig: string, folder: string, port: number, routes: Route[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${folder}/${kind};`)
    .join('\n')
  return `load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log warn;
events { worker_connections 16384; }
http {
${temporary}
  access_log off;
  tcp_nodelay on;
  reset_timedout_connection on;
  keepalive_timeout 3600s;
  keepalive_requests 100000000;
  client_max_body_size 64m;
  client_body_buffer_size 1m;
  lua_package_path '${rig}/?.lua;;';
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /v1/models { return 200 '{"object":"list","data":[]}'; }
${routes.map((route) => location(folder, route)).join('\n')}
  }
}
`
}

/** Starts nginx on the load core and waits until it answers. `rig` holds mock.lua; `folder` is made. */
export async function startMock(
  rig: string,
  folder: string,
  port: number,
  routes: Route[],
): Promise<Mock> {
  mkdirSync(folder, { recursive: true })
  for (const route of routes) writeTexts(folder, route)
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(rig, folder, port, routes))
  const log = join(folder, 'nginx.out')
  const args = ['-c', file, '-p', folder, '-e', join(folder, 'nginx.log')]
  const nginx: Spawned = spawnPinned('nginx', args, { core: LOAD_CORE, cwd: folder, log })
  await untilAnswers(nginx, `http://127.0.0.1:${port}/v1/models`, {}, log)
  const byModel = new Map(routes.map((route) => [route.model, route]))
  return { port, folder, routes: byModel, stop: () => nginx.stop() }
}
