/** The requests that are sent and the replies that are expected, the same on every run. */

const WORDS = (
  'the of and to in is that for it as was with be by on not he his but at are this have from or had ' +
  'an they which one you were all her she there would their we him been has when who will no more ' +
  'if out so up said what its about than into them can only other time new some could these two may ' +
  'first then do any like my now over such our man me even most made after also did many off before ' +
  'must well back through years much where your way down should because long each just state people ' +
  'little world very still nation hand old life tell write house river number sound great place naïve ' +
  'café — résumé'
).split(' ')

const CODE = [
  'export function parse(text: string): Record<string, unknown> {',
  '\tconst found = /^"([^"\\\\]|\\\\.)*"/.exec(text)',
  '\tif (found === null) throw new SyntaxError(`no string at "${text.slice(0, 8)}"`)',
  '\treturn { "kind": "string", "value": found[0], "rest": text.slice(found[0].length) }',
  '}',
  '',
  '# python: names["first"] = row["first"].replace("\\n", " ").strip("\\"")',
  'printf("%s: \\"%s\\"\\n", labels["name"], values["name"]);',
]

/** A small generator of fixed numbers (mulberry32), so that each run sends the same bytes. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** About `size` characters of sentences. */
export function prose(size: number): string {
  const next = numbers(size)
  let text = ''
  while (text.length < size) {
    const word = WORDS[Math.floor(next() * WORDS.length)] ?? 'the'
    text += next() < 0.08 ? `${word}. ` : `${word} `
    if (next() < 0.01) text += '\n\n'
  }
  return text.slice(0, size).trimEnd()
}

/** Source code whose JSON form has about `size` characters: a quote, tab or line end every few bytes. */
export function code(size: number): string {
  const next = numbers(size + 1)
  let text = ''
  for (let length = 0; length < size; ) {
    const line = CODE[Math.floor(next() * CODE.length)] ?? ''
    text += `${line}\n`
    length += JSON.stringify(line).length
  }
  return text
}

/** JSON whose form inside a JSON string has about `size` characters, like a tool's output. */
export function nested(size: number): string {
  const next = numbers(size + 2)
  const rows: string[] = []
  for (let length = 0; length < size; ) {
    const [word = '', other = ''] = prose(40 + Math.floor(next() * 40)).split('. ')
    const row = JSON.stringify({ id: rows.length, name: word, tags: other.split(' '), ok: true })
    rows.push(row)
    length += JSON.stringify(row).length
  }
  return `[${rows.join(',')}]`
}

/** A chat request. The messages come before the model, as the official Python SDK sends them. */
export function chatRequest(model: string, content: string, stream: boolean): string {
  const messages = [
    { role: 'system', content: 'You are a careful assistant.' },
    { role: 'user', content },
  ]
  const streaming = stream ? { stream: true, stream_options: { include_usage: true } } : {}
  return JSON.stringify({ messages, model, temperature: 0.7, max_tokens: 256, ...streaming })
}

/** A whole chat completion with the given content. */
export function chatReply(model: string, content: string): string {
  const usage = {
    prompt_tokens: 212,
    completion_tokens: 58,
    total_tokens: 270,
    prompt_tokens_details: { cached_tokens: 0 },
  }
  return JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1700000000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
    system_fingerprint: 'fp_bench',
  })
}

function chunk(model: string, choices: unknown[], usage: unknown): string {
  const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1700000000, model }
  return `data: ${JSON.stringify({ ...head, system_fingerprint: 'fp_bench', choices, usage })}\n\n`
}

/** One content event of about 330 bytes, with placeholders for its number and its send time. */
export function streamEvent(model: string): string {
  const content = `seq=@SEQ00@ sent=@STAMP0000000000@ ${'word '.repeat(19)}`
  return chunk(model, [{ index: 0, delta: { content }, finish_reason: null }], null)
}

/** What ends a stream: the finish, the usage and the end mark. */
export function streamTail(model: string, events: number): string {
  const usage = { prompt_tokens: 212, completion_tokens: events, total_tokens: 212 + events }
  return (
    chunk(model, [{ index: 0, delta: {}, finish_reason: 'stop' }], null) +
    chunk(model, [], usage) +
    'data: [DONE]\n\n'
  )
}

/** The next of a series of pseudo-random numbers that is the same on every run (Park and Miller). */
function nextNumber(before: number): number {
  return (before * 48271) % 2147483647
}

/** An image of about so many bytes as base64, followed by the usage. */
export function imageReply(size: number): string {
  const bytes = new Uint8Array(Math.floor(size / 4) * 3)
  let number = 1
  for (let at = 0; at < bytes.length; at++) {
    number = nextNumber(number)
    bytes[at] = number & 0xff
  }
  const usage = {
    input_tokens: 50,
    input_tokens_details: { text_tokens: 50, image_tokens: 0 },
    output_tokens: 4160,
    total_tokens: 4210,
  }
  return JSON.stringify({ created: 1764000000, data: [{ b64_json: bytes.toBase64() }], usage })
}

/** Vectors of 1536 numbers, about so many bytes in all. */
export function embeddingsReply(model: string, size: number): string {
  const data: string[] = []
  let number = 1
  for (let bytes = 0; bytes < size; ) {
    const vector = Array.from({ length: 1536 }, () => {
      number = nextNumber(number)
      return (number / 2147483647 - 0.5).toFixed(9)
    })
    const item = `{"object":"embedding","index":${data.length},"embedding":[${vector.join(',')}]}`
    data.push(item)
    bytes += item.length
  }
  const usage = '"usage":{"prompt_tokens":200,"total_tokens":200}'
  return `{"object":"list","data":[${data.join(',')}],"model":"${model}",${usage}}`
}
