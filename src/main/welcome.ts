// What a newcomer sees first: the lines printed at the start, and the page at `/`.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Model } from '../catalog/model.ts'
import { defaultGroup } from '../config/defaults.ts'
import type { Config, ModelKind } from '../config/types.ts'
import type { FirstSteps } from '../http/console/start-page.ts'
import { escapeHtml } from '../http/html.ts'
import { localCredit } from '../identity/first-key.ts'
import { root } from '../installation.ts'
import { anyoneOf, type ModelAccess } from '../operations/model-access.ts'

export interface Start {
  readonly version: string
  readonly url: string
  /** The secret of a key made at this start; null: there was a key before. */
  readonly secret: string | null
  /** The console's address, and whether it is built; null: it is turned off. */
  readonly console: { readonly url: string; readonly isBuilt: boolean } | null
  /** For the first admin; null once one has signed in. */
  readonly signInLink: string | null
  readonly config: Pick<Config, 'currency' | 'file' | 'dataDir' | 'databaseUrl'>
  /** A model for a first call; null: no model answers yet. */
  readonly model: FirstModel | null
  /** Conditions the operator should fix at once. */
  readonly warnings: readonly string[]
}

/** The model that the first call asks. */
export type FirstModel = Pick<Model, 'id' | 'kind'>

/** Kinds whose first call fits in a line of JSON, the cheapest and most usual first. */
const firstCalls: Readonly<Partial<Record<ModelKind, readonly [path: string, body: object]>>> = {
  chat: ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }],
  completion: ['/v1/completions', { prompt: 'Hello' }],
  embedding: ['/v1/embeddings', { input: 'Hello' }],
  moderation: ['/v1/moderations', { input: 'Hello' }],
  rerank: ['/v1/rerank', { query: 'Hello', documents: ['Hello', 'Goodbye'] }],
  image: ['/v1/images/generations', { prompt: 'a red cat' }],
  video: ['/v1/videos', { prompt: 'a red cat' }],
}

/** A model that can be used now, in the default group or else another; null: there is none. */
export function firstModel(config: Config, modelAccess: ModelAccess): FirstModel | null {
  const groups = new Set([defaultGroup, ...Object.keys(config.groups)])
  for (const group of groups) {
    const models = modelAccess.models(anyoneOf(group))
    for (const kind of Object.keys(firstCalls)) {
      const found = models.find((model) => model.kind === kind)
      if (found !== undefined) return found
    }
  }
  return null
}

function firstCall(url: string, secret: string, model: FirstModel | null): string {
  const { id, kind } = model ?? { id: 'MODEL', kind: 'chat' as const }
  const [path, body] = firstCalls[kind] ?? ['/v1/models', {}]
  // To stand within single quotes of a shell.
  const text = JSON.stringify({ model: id, ...body }, null, 1).replace(/\n\s*/g, ' ')
  const data = text.replaceAll("'", "'\\''").replaceAll(/([[{]) | ([\]}])/g, '$1$2')
  return [
    `  curl ${url}${path} \\`,
    `    -H "Authorization: Bearer ${secret}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d '${data}'`,
  ].join('\n')
}

/** Text for the terminal; its first line is stable, so that scripts may wait for it. */
export function startText(start: Start): string {
  const { url, secret, signInLink, config, model } = start
  const keys = secret ?? 'YOUR_KEY'
  const about =
    secret === null
      ? `  Key      use one made before, or: ${commandLine('key create --account default --group default --name mine', config)}`
      : `  Key      ${secret}  (shown this once; kept as a hash)`
  return [
    `Tollgate listens on ${url}`,
    `  Version  ${start.version}`,
    `  API      ${url}/v1`,
    ...consoleLines(start.console),
    about,
    ...(secret === null
      ? []
      : [
          `  Credit   ${localCredit} ${config.currency} on account default, posted as an adjustment: no money was paid`,
        ]),
    ...(signInLink === null
      ? []
      : [`  Sign in  ${signInLink}  (once, within an hour, as administrator)`]),
    ...start.warnings.map((warning) => `  Warning  ${warning}`),
    '',
    model === null
      ? `No model can be called yet, for none has a channel and a price; this says more: ${commandLine('config check', config)}. Then:`
      : 'Try it:',
    firstCall(url, keys, model),
    '',
    '',
  ].join('\n')
}

/** A command on this server's configuration and data, as its operator can run it in any folder. */
function commandLine(words: string, { file, dataDir, databaseUrl }: Start['config']): string {
  const program = existsSync(join(root, 'package-lock.json'))
    ? join(root, 'bin/tollgate')
    : 'tollgate'
  const places = [
    ...(file === null ? [] : ['--config', resolve(file)]),
    ...(databaseUrl === null ? ['--data', resolve(dataDir)] : []),
  ]
  const line = [program, words, ...places.map(quoted)].join(' ')
  return databaseUrl === null ? line : `${line} (in the server's environment)`
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function consoleLines(shown: Start['console']): string[] {
  if (shown === null) return []
  const { url, isBuilt } = shown
  return [`  Console  ${url}${isBuilt ? '' : '  (being built; the page opens it by itself)'}`]
}

/** The first call as pages for browsers show it. */
export function firstSteps(url: string, model: FirstModel | null): FirstSteps {
  return { url, call: firstCall(url, 'YOUR_KEY', model) }
}

/** A plain page with the addresses and a first call, where there is no console. */
export function frontPage(address: string, model: FirstModel | null): string {
  const { url, call } = firstSteps(address, model)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 44rem; margin: 4rem auto; padding: 0 1.5rem }
pre { overflow-x: auto; padding: 1rem; border: 1px solid #8886; border-radius: .5rem; font-size: .875rem }
dt { font-weight: 600 } dd { margin: 0 0 .75rem }
</style>
</head>
<body>
<main>
<h1>Tollgate is running</h1>
<p>One HTTP API in the OpenAI format in front of every model vendor.</p>
<dl>
<dt>API</dt><dd><code>${escapeHtml(url)}/v1</code></dd>
<dt>Models</dt><dd><code>GET ${escapeHtml(url)}/v1/models</code></dd>
<dt>Health</dt><dd><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a></dd>
</dl>
<h2>A first call</h2>
<p>The server printed a key when it first started. Another one: <code>bin/tollgate key create --account default --group default --name mine</code></p>
<pre><code>${escapeHtml(call)}</code></pre>
<p>Without any vendor the <code>sandbox/</code> models also draw, speak, transcribe, film and converse: <code>sandbox/image</code>, <code>sandbox/speech</code>, <code>sandbox/transcription</code>, <code>sandbox/video</code>, <code>sandbox/realtime</code>.</p>
</main>
</body>
</html>
`
}
