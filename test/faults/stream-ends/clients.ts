// Clients of each format: what they send, how a reply must end, and what their official SDK reads from it.

import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { ErrorKind } from './wires.ts'

/** The error in a stream or a refusal, in its format's own words. */
export interface ClientError {
  readonly type: string
  readonly message: string
}

export interface FormatClient {
  readonly name: string
  readonly dialect: string
  path(model: string): string
  body(model: string): object
  /**
   * What its official SDK reads from a reply served at `url`: its text. Rejects as the SDK does. null: there is no SDK.
   */
  readonly sdk: ((url: string, model: string) => Promise<string>) | null
  /** How its type or status names each class of error within a stream. */
  readonly types: Readonly<Record<ErrorKind | 'broken', string>>
  /** The errors in a stream's text. */
  errors(text: string): readonly ClientError[]
  /** How often the stream reports a normal end. */
  ends(text: string): number
  /** Whether nothing follows the event that ended the stream. */
  isLast(text: string): boolean
}

const apiKey = 'sk-replayed'
const messages = [{ role: 'user' as const, content: 'Say hello.' }]

interface Frame {
  readonly event: string
  readonly data: string
}

function framesOf(text: string): readonly Frame[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1] ?? '',
      data: /^data:(.*)$/m.exec(frame)?.[1]?.trim() ?? '',
    }))
}

interface Loose {
  readonly type?: string
  readonly error?: { readonly type?: string; readonly status?: string; readonly message?: string }
}

const valueOf = ({ data }: Frame): Loose =>
  data.startsWith('{') ? (JSON.parse(data) as Loose) : {}

function errorsIn(values: readonly Loose[]): readonly ClientError[] {
  return values.flatMap(({ error }) =>
    error === undefined
      ? []
      : [{ type: error.type ?? error.status ?? '', message: error.message ?? '' }],
  )
}

const openaiTypes = {
  failed: 'service_unavailable',
  broken: 'service_unavailable',
  rejected: 'invalid_request_error',
  limited: 'rate_limit_exceeded',
}

const doneEnds = {
  types: openaiTypes,
  errors: (text: string) => errorsIn(framesOf(text).map(valueOf)),
  ends: (text: string) => framesOf(text).filter(({ data }) => data === '[DONE]').length,
  isLast(text: string): boolean {
    const last = framesOf(text).at(-1)
    return last?.data === '[DONE]' || (last !== undefined && valueOf(last).error !== undefined)
  },
}

const openaiAt = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

const chat: FormatClient = {
  name: 'chat',
  dialect: 'openai-chat',
  path: () => '/v1/chat/completions',
  body: (model) => ({ model, stream: true, messages }),
  async sdk(url, model) {
    let text = ''
    const body = { model, messages, stream: true } as const
    for await (const { choices } of await openaiAt(url).chat.completions.create(body))
      text += choices[0]?.delta.content ?? ''
    return text
  },
  ...doneEnds,
}

const completions: FormatClient = {
  name: 'completions',
  dialect: 'openai-completions',
  path: () => '/v1/completions',
  body: (model) => ({ model, stream: true, prompt: 'Say hello.' }),
  async sdk(url, model) {
    let text = ''
    const body = { model, prompt: 'Say hello.', stream: true } as const
    for await (const { choices } of await openaiAt(url).completions.create(body))
      text += choices[0]?.text ?? ''
    return text
  },
  ...doneEnds,
}

const responses: FormatClient = {
  name: 'responses',
  dialect: 'openai-responses',
  path: () => '/v1/responses',
  body: (model) => ({ model, stream: true, input: 'Say hello.', store: false }),
  async sdk(url, model) {
    let text = ''
    const body = { model, input: 'Say hello.', stream: true } as const
    for await (const event of await openaiAt(url).responses.create(body))
      if (event.type === 'response.output_text.delta') text += event.delta
    return text
  },
  types: openaiTypes,
  errors: (text) =>
    errorsIn(
      framesOf(text)
        .filter(({ event }) => event === 'error')
        .map(valueOf),
    ),
  ends: (text) =>
    framesOf(text).filter(({ event }) => /^response\.(completed|incomplete)$/.test(event)).length,
  isLast: (text) =>
    /^response\.(completed|incomplete|failed)$/.test(framesOf(text).at(-1)?.event ?? ''),
}

const anthropic: FormatClient = {
  name: 'messages',
  dialect: 'anthropic-messages',
  path: () => '/v1/messages',
  body: (model) => ({ model, stream: true, max_tokens: 100, messages }),
  async sdk(url, model) {
    const client = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 })
    const { content } = await client.messages
      .stream({ model, max_tokens: 100, messages })
      .finalMessage()
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  },
  types: {
    failed: 'overloaded_error',
    broken: 'overloaded_error',
    rejected: 'invalid_request_error',
    limited: 'rate_limit_error',
  },
  errors: (text) => errorsIn(framesOf(text).map(valueOf)),
  ends: (text) => framesOf(text).filter(({ event }) => event === 'message_stop').length,
  isLast: (text) => /^(error|message_stop)$/.test(framesOf(text).at(-1)?.event ?? ''),
}

const contents = [{ role: 'user', parts: [{ text: 'Say hello.' }] }]
const googleTypes = {
  failed: 'UNAVAILABLE',
  broken: 'UNAVAILABLE',
  rejected: 'INVALID_ARGUMENT',
  limited: 'RESOURCE_EXHAUSTED',
}
const finishes = (text: string): number =>
  (text.match(/"(finishReason|blockReason)":/g) ?? []).length

const gemini: FormatClient = {
  name: 'gemini',
  dialect: 'gemini',
  path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
  body: () => ({ contents }),
  async sdk(url, model) {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } })
    let text = ''
    for await (const reply of await client.models.generateContentStream({ model, contents }))
      for (const part of reply.candidates?.[0]?.content?.parts ?? []) text += part.text ?? ''
    return text
  },
  types: googleTypes,
  errors: (text) => errorsIn(framesOf(text).map(valueOf)),
  ends: (text) => Math.min(1, finishes(text)),
  isLast(text) {
    const values = framesOf(text).map(valueOf)
    return values.slice(0, -1).every(({ error }) => error === undefined)
  },
}

const list: FormatClient = {
  ...gemini,
  name: 'gemini as a list',
  path: (model) => `/v1beta/models/${model}:streamGenerateContent`,
  sdk: null,
  errors: (text) => errorsIn(JSON.parse(text) as Loose[]),
  isLast(text) {
    const values = JSON.parse(text) as Loose[]
    return values.slice(0, -1).every(({ error }) => error === undefined)
  },
}

export const formatClients: readonly FormatClient[] = [
  chat,
  completions,
  responses,
  anthropic,
  gemini,
  list,
]
