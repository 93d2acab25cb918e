// The sandbox's legacy completion model, in OpenAI's text completion format.

import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject, wholeNumber } from '../../wire/json/value.ts'
import { identifier } from '../hash.ts'
import { createdAt, untilStop } from './chat.ts'
import { done, type Reply, stream, whole } from './reply.ts'
import type { SandboxSettings } from './settings.ts'
import { countTokens, echo, joined, sized } from './text.ts'

type Text = ReturnType<typeof sized>

/** Of all choices together: a whole reply is put together in memory. */
const maxOutputTokens = 1_000_000

interface Prompt {
  readonly text: string
  readonly tokens: number
}

function isTokens(value: JsonValue | undefined): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number')
}

function onePrompt(value: JsonValue | undefined): Prompt | null {
  if (typeof value === 'string') return { text: value, tokens: countTokens(value) }
  if (isTokens(value)) return { text: `${value.length} token ids`, tokens: value.length }
  return null
}

/** One text or one list of token ids, or a list of either. */
export function promptsOf(value: JsonValue | undefined, param: string): Prompt[] {
  const single = onePrompt(value)
  if (single !== null) return [single]
  const list = Array.isArray(value) ? value.map(onePrompt) : []
  const prompts = list.filter((prompt) => prompt !== null)
  if (prompts.length === 0 || prompts.length < list.length) {
    throw invalidRequest(
      `'${param}' must be a text, a list of texts, a list of token ids or a list of such lists`,
      param,
    )
  }
  return prompts
}

/** Throws `invalid_request_error` where the request is invalid. */
export function completionReply(body: JsonObject, model: string, settings: SandboxSettings): Reply {
  const prompts = promptsOf(body.prompt, 'prompt')
  const limit = wholeNumber(body.max_tokens, 0)
  const copies = wholeNumber(body.n, 1) ?? 1
  const different = prompts.map((prompt) => {
    const said = body.echo === true ? `${prompt.text} ` : ''
    return sized(said + untilStop(echo(prompt.text), body.stop), settings.tokens, limit)
  })
  const most = different.reduce((sum, { length }) => sum + Math.max(1, length), 0) * copies
  if (most > maxOutputTokens) {
    throw invalidRequest(
      `The sandbox makes at most ${maxOutputTokens} tokens a request; this one asks for ${most}`,
      'n',
    )
  }
  const texts: Text[] = different.flatMap((text) => Array.from({ length: copies }, () => text))
  const input = prompts.reduce((sum, prompt) => sum + prompt.tokens, 0)
  const output = texts.reduce((sum, text) => sum + text.length, 0)
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  const id = `cmpl-sandbox-${identifier(`${model}\n${prompts.map((prompt) => prompt.text).join('\n')}`)}`
  const steps = Math.max(1, ...texts.map((text) => text.length))
  const head = { id, object: 'text_completion', created: createdAt, model }
  if (body.stream === true) {
    const options = body.stream_options
    const asked = isObject(options) && options.include_usage === true
    return streamed(head, texts, steps, asked && settings.fault !== 'no-usage' ? usage : null)
  }
  const choices = texts.map((text, index) => ({
    index,
    text: joined(text),
    logprobs: null,
    finish_reason: text.cut ? 'length' : 'stop',
  }))
  const reply = { ...head, choices }
  return whole(
    settings.fault === 'no-usage' ? reply : { ...reply, usage },
    (steps - 1) * settings.gapMs,
  )
}

function streamed(
  head: JsonObject,
  texts: readonly Text[],
  steps: number,
  usage: JsonObject | null,
): Reply {
  const frame = (choices: JsonValue[], usageValue: JsonValue): string => {
    const value = usage === null ? { ...head, choices } : { ...head, choices, usage: usageValue }
    return `data: ${JSON.stringify(value)}\n\n`
  }
  const step = (index: number): string => {
    let sent = ''
    for (const [choice, text] of texts.entries()) {
      const last = index === Math.max(0, text.length - 1)
      if (index >= text.length && !last) continue
      const piece = index < text.length ? text.at(index) : ''
      const finish = last ? (text.cut ? 'length' : 'stop') : null
      sent += frame([{ index: choice, text: piece, logprobs: null, finish_reason: finish }], null)
    }
    if (index < steps - 1) return sent
    return sent + (usage === null ? '' : frame([], usage)) + done
  }
  return stream(steps, step)
}
