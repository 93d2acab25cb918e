// A request to the gateway as code: curl, JavaScript and Python by the official packages.

import { quoted, word } from '../../clients/client.ts'

export type Language = 'curl' | 'javascript' | 'python'

interface Shown {
  /** The gateway's address without a path or a slash at its end. */
  readonly base: string
  readonly path: string
  readonly body: object
}

const key = 'YOUR_KEY'

const methods: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat.completions.create',
  '/v1/images/generations': 'images.generate',
  '/v1/audio/speech': 'audio.speech.create',
}

export function codeOf(language: Language, { base, path, body }: Shown): string {
  const shown = withoutBytes(body) as Record<string, unknown>
  if (language === 'curl')
    return `curl ${word(base + path)} \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d ${word(JSON.stringify(shown, null, 2))}`
  const method = methods[path] ?? ''
  return language === 'python' ? python(base, method, shown) : javascript(base, method, shown)
}

function javascript(base: string, method: string, body: Record<string, unknown>): string {
  const isStream = body['stream'] === true
  const uses = isStream
    ? `for await (const chunk of reply) process.stdout.write(chunk.choices[0]?.delta?.content ?? '')`
    : method.startsWith('images')
      ? 'console.log(reply.data)'
      : `await writeFile('speech.mp3', Buffer.from(await reply.arrayBuffer()))`
  return `${method.startsWith('audio') ? "import { writeFile } from 'node:fs/promises'\n" : ''}import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${quoted(`${base}/v1`)}, apiKey: ${quoted(key)} })
const reply = await client.${method}(${JSON.stringify(body, null, 2)})
${uses}`
}

function python(base: string, method: string, body: Record<string, unknown>): string {
  const given = Object.entries(body)
    .map(([name, value]) => `    ${name}=${pythonOf(value, '    ')},`)
    .join('\n')
  const uses =
    body['stream'] === true
      ? `for chunk in reply:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`
      : method.startsWith('images')
        ? 'print(reply.data)'
        : 'reply.write_to_file("speech.mp3")'
  return `from openai import OpenAI

client = OpenAI(base_url=${quoted(`${base}/v1`)}, api_key=${quoted(key)})
reply = client.${method}(
${given}
)
${uses}`
}

function pythonOf(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return quoted(value)
  const inner = `${indent}    `
  const items = Array.isArray(value)
    ? value.map((item) => pythonOf(item, inner))
    : Object.entries(value).map(([name, item]) => `${quoted(name)}: ${pythonOf(item, inner)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return items.length === 0
    ? `${open}${close}`
    : `${open}\n${items.map((item) => inner + item).join(',\n')}\n${indent}${close}`
}

/** Base64 of files becomes `…`. */
function withoutBytes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, item) =>
      typeof item !== 'string'
        ? item
        : item.startsWith('data:')
          ? `${item.slice(0, item.indexOf(',') + 1)}…`
          : name === 'data' && item.length > 200
            ? '…'
            : item,
    ),
  )
}
