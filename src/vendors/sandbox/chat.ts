// The sandbox's chat models: decide on an answer, and write it in OpenAI's chat format.

import { sandbox } from '../../catalog/models/sandbox.ts'
import { invalidRequest } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject, wholeNumber } from '../../wire/json/value.ts'
import { identifier } from '../hash.ts'
import { done, type Reply, stream, whole } from './reply.ts'
import { example } from './schema.ts'
import type { SandboxSettings } from './settings.ts'
import { contentText, countTokens, echo, joined, natural, type Output, sized } from './text.ts'
import { type ToolCall, toolCalls } from './tools.ts'

/** Unix seconds, fixed at 2026-01-01, so that the same request has the same reply byte for byte. */
export const createdAt = 1_767_225_600
const reasoningText = 'The sandbox pretends to think: read the message, then echo it.'
/** Tokens that each message costs besides its text. */
const perMessage = 4

type Finish = 'stop' | 'length' | 'tool_calls'

interface Answer {
  readonly id: string
  readonly model: string
  readonly reasoning: Output
  readonly content: Output
  readonly calls: readonly ToolCall[]
  readonly finish: Finish
  readonly choices: number
  readonly usage: JsonObject
}

const nothing: Output = { length: 0, at: () => '' }

function messagesOf(body: JsonObject): JsonObject[] {
  const { messages } = body
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalidRequest("'messages' must be a list with at least one message", 'messages')
  }
  return messages.map((message, index) => {
    if (isObject(message)) return message
    throw invalidRequest(`'messages[${index}]' must be an object`, `messages[${index}]`)
  })
}

function lastText(messages: readonly JsonObject[], role: string): string {
  const found = messages.findLast((message) => message.role === role)
  return contentText(found?.content)
}

/** The last text part of the user's message: agents put their own texts before it. */
function lastPart(messages: readonly JsonObject[]): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (!Array.isArray(content)) return contentText(content)
  return contentText(content.filter((part) => contentText([part]) !== '').slice(-1))
}

function promptTokens(messages: readonly JsonObject[]): number {
  let tokens = 0
  for (const message of messages) {
    tokens += perMessage + countTokens(contentText(message.content))
    if (Array.isArray(message.tool_calls)) tokens += countTokens(JSON.stringify(message.tool_calls))
  }
  return tokens
}

/** Throws where the prompt exceeds the context window that the catalogue names for the model. */
function withinWindow(tokens: number, { model }: SandboxSettings): number {
  const window = sandbox.models[model]?.context ?? Number.POSITIVE_INFINITY
  if (tokens <= window) return tokens
  throw invalidRequest(
    `This model takes ${window} tokens at most; the messages have ${tokens}`,
    'messages',
  )
}

function structured(format: JsonValue | undefined, said: string): string | null {
  if (!isObject(format)) return null
  if (format.type === 'json_object') return JSON.stringify({ sandbox: true, said })
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) return null
  const { schema } = format.json_schema
  return isObject(schema) ? JSON.stringify(example(schema)) : null
}

/** The text before the first stop sequence, as OpenAI's format defines it. */
export function untilStop(text: string, stop: JsonValue | undefined): string {
  const sequences = Array.isArray(stop) ? stop : [stop]
  let end = text.length
  for (const sequence of sequences) {
    if (typeof sequence !== 'string' || sequence === '') continue
    const at = text.indexOf(sequence)
    if (at !== -1) end = Math.min(end, at)
  }
  return text.slice(0, end)
}

function decide(body: JsonObject, model: string, settings: SandboxSettings): Answer {
  const messages = messagesOf(body)
  const toolResult = messages.at(-1)?.role === 'tool'
  const said = lastText(messages, toolResult ? 'tool' : 'user')
  const id = identifier(`${model}\n${messages.length}\n${said}`)
  const calls = toolCalls(body, toolResult ? '' : lastPart(messages), id)
  const thinks = settings.model === 'sandbox/reasoning' && body.reasoning_effort !== 'none'
  const limit = wholeNumber(body.max_completion_tokens, 1) ?? wholeNumber(body.max_tokens, 1)
  const reasoning = thinks ? natural(reasoningText) : nothing
  const left = limit === null ? null : Math.max(0, limit - reasoning.length)
  const text = structured(body.response_format, said) ?? untilStop(echo(said), body.stop)
  const content = calls.length > 0 ? null : sized(text, settings.tokens, left)
  const choices = wholeNumber(body.n, 1) ?? 1
  const callTokens = calls.reduce((sum, call) => sum + call.pieces.length, 0)
  const prompt = withinWindow(promptTokens(messages), settings)
  const completion = choices * (reasoning.length + callTokens + (content?.length ?? 0))
  return {
    id: `chatcmpl-sandbox-${id}`,
    model,
    reasoning,
    content: content ?? nothing,
    calls,
    finish: content === null ? 'tool_calls' : content.cut ? 'length' : 'stop',
    choices,
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: choices * reasoning.length },
    },
  }
}

function message(answer: Answer): JsonObject {
  const content = answer.calls.length > 0 ? null : joined(answer.content)
  const value: JsonObject = { role: 'assistant', content, refusal: null }
  if (answer.reasoning.length > 0) value.reasoning_content = joined(answer.reasoning)
  if (answer.calls.length > 0) {
    value.tool_calls = answer.calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.pieces.join('') },
    }))
  }
  return value
}

/** The delta at this index of one choice, one per token: reasoning, then tool calls, then content. */
function delta(answer: Answer, index: number): JsonObject {
  if (index < answer.reasoning.length) return { reasoning_content: answer.reasoning.at(index) }
  let rest = index - answer.reasoning.length
  for (const [position, call] of answer.calls.entries()) {
    const piece = call.pieces[rest]
    if (piece !== undefined) {
      return rest === 0
        ? {
            tool_calls: [
              {
                index: position,
                id: call.id,
                type: 'function',
                function: { name: call.name, arguments: piece },
              },
            ],
          }
        : { tool_calls: [{ index: position, function: { arguments: piece } }] }
    }
    rest -= call.pieces.length
  }
  return { content: answer.content.at(rest) }
}

function streamed(answer: Answer, usageAsked: boolean): Reply {
  const calls = answer.calls.reduce((sum, call) => sum + call.pieces.length, 0)
  const events = answer.reasoning.length + calls + answer.content.length
  const steps = Math.max(1, events)
  const head = `data: {"id":"${answer.id}","object":"chat.completion.chunk","created":${createdAt},"model":${JSON.stringify(answer.model)},"system_fingerprint":"sandbox","choices":`
  const tail = usageAsked ? ',"usage":null}\n\n' : '}\n\n'
  const frame = (value: JsonObject, finish: Finish | null): string => {
    let text = ''
    for (let choice = 0; choice < answer.choices; choice += 1) {
      text += `${head}${JSON.stringify([{ index: choice, delta: value, logprobs: null, finish_reason: finish }])}${tail}`
    }
    return text
  }
  const opener = {
    role: 'assistant',
    content: answer.content.length > 0 ? '' : null,
    refusal: null,
  }
  const step = (index: number): string => {
    let text = index === 0 ? frame(opener, null) : ''
    if (index < events) text += frame(delta(answer, index), null)
    if (index < steps - 1) return text
    text += frame({}, answer.finish)
    if (usageAsked) text += `${head}[],"usage":${JSON.stringify(answer.usage)}}\n\n`
    return text + done
  }
  return stream(steps, step)
}

/** Throws `invalid_request_error` where the request is invalid. */
export function chatReply(body: JsonObject, model: string, settings: SandboxSettings): Reply {
  const answer = decide(body, model, settings)
  if (body.stream === true) {
    const options = body.stream_options
    const asked = isObject(options) && options.include_usage === true
    return streamed(answer, asked && settings.fault !== 'no-usage')
  }
  const value = message(answer)
  const choices = Array.from({ length: answer.choices }, (_, index) => ({
    index,
    message: value,
    logprobs: null,
    finish_reason: answer.finish,
  }))
  const { id, usage } = answer
  const events = answer.reasoning.length + answer.content.length
  const reply = {
    id,
    object: 'chat.completion',
    created: createdAt,
    model,
    system_fingerprint: 'sandbox',
    choices,
  }
  return whole(
    settings.fault === 'no-usage' ? reply : { ...reply, usage },
    Math.max(0, events - 1) * settings.gapMs,
  )
}
