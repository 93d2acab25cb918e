// Anthropic's, Google's, Cohere's and Amazon's formats as their vendors write them.

import { crc32 } from 'node:zlib'
import type { Said } from './said.ts'
import { events, halves, json, type Reply } from './vendor-openai.ts'

const named = (type: string, value: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`

export function anthropicReply(said: Said, stream: boolean): Reply {
  const { input, cached, output, reasoning } = said.usage
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: output + reasoning,
    output_tokens_details: { thinking_tokens: reasoning },
  }
  const head = { id: 'msg_v', type: 'message', role: 'assistant', model: 'vendor-model' }
  const blocks = [
    ...(said.reasoning === ''
      ? []
      : [{ type: 'thinking', thinking: said.reasoning, signature: 'c2lnbmF0dXJl' }]),
    ...(said.text === '' ? [] : [{ type: 'text', text: said.text }]),
    ...said.calls.map(({ id, name, input: fields }) => ({
      type: 'tool_use',
      id: `toolu_${id}`,
      name,
      input: fields,
    })),
  ]
  const stop_reason = said.calls.length > 0 ? 'tool_use' : 'end_turn'
  if (!stream) return json({ ...head, content: blocks, stop_reason, stop_sequence: null, usage })
  const message = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  return events([
    named('message_start', { message }),
    named('ping', {}),
    ...blocks.flatMap(blockEvents),
    named('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }),
    named('message_stop', {}),
  ])
}

function blockEvents(
  block: {
    readonly type: string
    readonly thinking?: string
    readonly text?: string
    readonly input?: object
  },
  index: number,
): string[] {
  const start = (content_block: object) => named('content_block_start', { index, content_block })
  const delta = (value: object) => named('content_block_delta', { index, delta: value })
  const stop = named('content_block_stop', { index })
  if (block.type === 'thinking') {
    return [
      start({ type: 'thinking', thinking: '', signature: '' }),
      ...halves(block.thinking ?? '').map((thinking) =>
        delta({ type: 'thinking_delta', thinking }),
      ),
      delta({ type: 'signature_delta', signature: 'c2lnbmF0dXJl' }),
      stop,
    ]
  }
  if (block.type === 'text') {
    return [
      start({ type: 'text', text: '' }),
      ...halves(block.text ?? '').map((text) => delta({ type: 'text_delta', text })),
      stop,
    ]
  }
  return [
    start({ ...block, input: {} }),
    delta({ type: 'input_json_delta', partial_json: '' }),
    ...halves(JSON.stringify(block.input)).map((partial_json) =>
      delta({ type: 'input_json_delta', partial_json }),
    ),
    stop,
  ]
}

export function geminiReply(said: Said, stream: boolean): Reply {
  const { input, cached, output, reasoning } = said.usage
  const usageMetadata = {
    promptTokenCount: input + cached,
    candidatesTokenCount: output,
    totalTokenCount: input + cached + output + reasoning,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  }
  const parts = (cut: (text: string) => readonly string[]) => [
    ...cut(said.reasoning).map((text) => ({ text, thought: true })),
    ...cut(said.text).map((text) => ({ text })),
    ...said.calls.map(({ name, input: args }, index) => ({
      functionCall: { name, args },
      ...(index === 0 && { thoughtSignature: 'c2lnbmF0dXJl' }),
    })),
  ]
  const reply = (said_: readonly object[], finishReason?: string) => ({
    candidates: [
      {
        content: { role: 'model', parts: said_ },
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    usageMetadata,
    modelVersion: 'vendor-model',
    responseId: 'gemini-v',
  })
  if (!stream)
    return json(
      reply(
        parts((text) => (text === '' ? [] : [text])),
        'STOP',
      ),
    )
  return events([
    ...parts(halves).map((part) => data(reply([part]))),
    data(reply([{ text: '' }], 'STOP')),
  ])
}

export function cohereReply(said: Said, stream: boolean): Reply {
  const { input, cached, output, reasoning } = said.usage
  const usage = {
    // The billed count leaves out the instructions that Cohere adds around a prompt, and contains no cache count.
    billed_units: { input_tokens: input + cached, output_tokens: output + reasoning },
    tokens: { input_tokens: input + cached + 495, output_tokens: output + reasoning + 3 },
    ...(cached > 0 && { cached_tokens: cached }),
  }
  const finish_reason = said.calls.length > 0 ? 'TOOL_CALL' : 'COMPLETE'
  const calls = said.calls.map(({ id, name, input: fields }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(fields) },
  }))
  if (!stream) {
    const content = [
      ...(said.reasoning === '' ? [] : [{ type: 'thinking', thinking: said.reasoning }]),
      ...(said.text === '' ? [] : [{ type: 'text', text: said.text }]),
    ]
    const message = {
      role: 'assistant',
      ...(content.length > 0 && { content }),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    return json({ id: 'cohere-v', finish_reason, message, usage })
  }
  const event = (type: string, more: object) => named(type, more)
  const block = (index: number, type: 'text' | 'thinking', text: string) => [
    event('content-start', { index, delta: { message: { content: { type, [type]: '' } } } }),
    ...halves(text).map((piece) =>
      event('content-delta', { index, delta: { message: { content: { [type]: piece } } } }),
    ),
    event('content-end', { index }),
  ]
  return events([
    event('message-start', { id: 'cohere-v', delta: { message: { role: 'assistant' } } }),
    ...(said.reasoning === '' ? [] : block(0, 'thinking', said.reasoning)),
    ...(said.text === '' ? [] : block(said.reasoning === '' ? 0 : 1, 'text', said.text)),
    ...calls.flatMap((call, index) => [
      event('tool-call-start', {
        index,
        delta: {
          message: { tool_calls: { ...call, function: { ...call.function, arguments: '' } } },
        },
      }),
      ...halves(call.function.arguments).map((text) =>
        event('tool-call-delta', {
          index,
          delta: { message: { tool_calls: { function: { arguments: text } } } },
        }),
      ),
      event('tool-call-end', { index }),
    ]),
    event('message-end', { delta: { finish_reason, usage } }),
  ])
}

export function bedrockReply(said: Said, stream: boolean): Reply {
  const { input, cached, output, reasoning } = said.usage
  const usage = {
    inputTokens: input,
    outputTokens: output + reasoning,
    totalTokens: input + cached + output + reasoning,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: 0,
  }
  const stopReason = said.calls.length > 0 ? 'tool_use' : 'end_turn'
  const content = [
    ...(said.reasoning === ''
      ? []
      : [
          {
            reasoningContent: {
              reasoningText: { text: said.reasoning, signature: 'c2lnbmF0dXJl' },
            },
          },
        ]),
    ...(said.text === '' ? [] : [{ text: said.text }]),
    ...said.calls.map(({ id, name, input: fields }) => ({
      toolUse: { toolUseId: id, name, input: fields },
    })),
  ]
  const metrics = { latencyMs: 1 }
  if (!stream)
    return json({ output: { message: { role: 'assistant', content } }, stopReason, usage, metrics })
  const frames = [
    awsFrame('messageStart', { role: 'assistant' }),
    ...content.flatMap((block, contentBlockIndex) => bedrockBlock(block, contentBlockIndex)),
    awsFrame('messageStop', { stopReason }),
    awsFrame('metadata', { usage, metrics }),
  ]
  return {
    contentType: 'application/vnd.amazon.eventstream',
    body: new Uint8Array(Buffer.concat(frames)),
  }
}

export function bedrockBlock(
  block: {
    readonly text?: string
    readonly reasoningContent?: { readonly reasoningText: { readonly text: string } }
    readonly toolUse?: {
      readonly toolUseId: string
      readonly name: string
      readonly input: object
    }
  },
  contentBlockIndex: number,
): Uint8Array[] {
  const delta = (value: object) =>
    awsFrame('contentBlockDelta', { contentBlockIndex, delta: value })
  const stop = awsFrame('contentBlockStop', { contentBlockIndex })
  if (block.toolUse !== undefined) {
    const { toolUseId, name, input } = block.toolUse
    return [
      awsFrame('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } }),
      ...halves(JSON.stringify(input)).map((text) => delta({ toolUse: { input: text } })),
      stop,
    ]
  }
  if (block.reasoningContent !== undefined) {
    const { text } = block.reasoningContent.reasoningText
    return [
      ...halves(text).map((piece) => delta({ reasoningContent: { text: piece } })),
      delta({ reasoningContent: { signature: 'c2lnbmF0dXJl' } }),
      stop,
    ]
  }
  return [...halves(block.text ?? '').map((text) => delta({ text })), stop]
}

/** One frame of application/vnd.amazon.eventstream: lengths, headers, payload and their checksums. */
export function awsFrame(eventType: string, payload: object): Uint8Array {
  const header = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, value.length >> 8, value.length & 0xff]),
      Buffer.from(value),
    ])
  const headers = Buffer.concat([
    header(':event-type', eventType),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ])
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(12 + headers.length + body.length + 4, 0)
  prelude.writeUInt32BE(headers.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, headers, body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(message), 0)
  return Buffer.concat([message, sum])
}
