// What a newcomer sees first: the lines printed at the start, and the page at `/`.

import type { Config } from '../config/types.ts'
import { localCredit } from '../identity/first-key.ts'

export interface Start {
  readonly version: string
  readonly url: string
  /** A key made just now; null when there was one before. */
  readonly secret: string | null
  readonly config: Config
}

/** A model that answers now: the sandbox where no vendor is configured. */
function firstModel(config: Config): string {
  for (const channel of config.channels) {
    const name = Object.keys(channel.models ?? {}).find((each) => !each.endsWith('*'))
    if (name !== undefined) return name
  }
  return 'sandbox/chat'
}

function firstCall(url: string, secret: string, model: string): string {
  return [
    `  curl ${url}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${secret}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join('\n')
}

/** Text for the terminal; the first line is stable, so that scripts may wait for it. */
export function startText(start: Start): string {
  const { url, secret, config } = start
  const keys = secret ?? 'YOUR_KEY'
  const about =
    secret === null
      ? '  Key      use one made before, or: bin/tollgate key create --account default --group default --name mine'
      : `  Key      ${secret}  (shown this once; kept as a hash)`
  return [
    `Tollgate listens on ${url}`,
    `  Version  ${start.version}`,
    `  API      ${url}/v1`,
    about,
    ...(secret === null
      ? []
      : [
          `  Credit   ${localCredit} ${config.currency} on account default, posted as an adjustment: no money was paid`,
        ]),
    '',
    'Try it:',
    firstCall(url, keys, firstModel(config)),
    '',
    '',
  ].join('\n')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character)
}

/** A plain page with the addresses and a first call. */
export function frontPage(config: Config): string {
  const url = config.server.publicUrl ?? `http://${config.server.host}:${config.server.port}`
  const call = escapeHtml(firstCall(url, 'YOUR_KEY', firstModel(config)))
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
<pre><code>${call}</code></pre>
<p>Without any vendor the <code>sandbox/</code> models also draw, speak, transcribe, film and converse: <code>sandbox/image</code>, <code>sandbox/speech</code>, <code>sandbox/transcription</code>, <code>sandbox/video</code>, <code>sandbox/realtime</code>.</p>
</main>
</body>
</html>
`
}
