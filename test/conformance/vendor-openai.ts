// OpenAI's chat and Responses formats as their vendors write them.

import type { Said, SaidUsage } from './said.ts'

export interface Reply {
  readonly contentType: string
  readonly body: string | Uint8Array<ArrayBuffer>
}

export const json = (value: unknown): Reply => ({
  contentType: 'application/json',
  body: JSON.stringify(value),
})

export const events = (frames: readonly string[]): Reply => ({
  contentType: 'text/event-stream',
  body: frames.join(''),
})

/** Halves, so that every delta comes in more than one piece. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return text === '' ? [] : [text.slice(0, middle), text.slice(middle)]
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`

function chatUsage({ input, cached, output, reasoning }: SaidUsage) {
  return {
    prompt_tokens: input + cached,
    completion_tokens: output + reasoning,
    total_tokens: input + cached + output + reasoning,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

export function chatReply(said: Said, stream: boolean): Reply {
  const head = { id: 'chatcmpl-v', created: 1_700_000_000, model: 'vendor-model' }
  const finish = said.calls.length > 0 ? 'tool_calls' : 'stop'
  const usage = chatUsage(said.usage)
  if (!stream) {
    const message = {
      role: 'assistant',
      content: said.text === '' ? null : said.text,
      refusal: null,
      ...(said.reasoning !== '' && { reasoning_content: said.reasoning }),
      ...(said.calls.length > 0 && {
        tool_calls: said.calls.map(({ id, name, input }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(input) },
        })),
      }),
    }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
    return json({ ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: object, reason: string | null = null) =>
    data({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      usage: null,
    })
  return events([
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...halves(said.reasoning).map((text) => chunk({ reasoning_content: text })),
    ...halves(said.text).map((text) => chunk({ content: text })),
    ...said.calls.flatMap(({ id, name, input }, index) => [
      chunk({
        tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
      }),
      ...halves(JSON.stringify(input)).map((text) =>
        chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
      ),
    ]),
    chunk({}, finish),
    data({ ...head, object: 'chat.completion.chunk', choices: [], usage }),
    'data: [DONE]\n\n',
  ])
}

export function responsesReply(said: Said, stream: boolean): Reply {
  const items = responseItems(said)
  const { input, cached, output, reasoning } = said.usage
  const usage = {
    input_tokens: input + cached,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + cached + output + reasoning,
  }
  const response = (status: string, done: readonly object[]) => ({
    id: 'resp_v',
    object: 'response',
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: 'vendor-model',
    output: done,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    temperature: 1,
    top_p: 1,
    metadata: {},
    usage: status === 'completed' ? usage : null,
  })
  if (!stream) return json(response('completed', items))
  let sequence = 0
  const event = (type: string, more: object) =>
    `event: ${type}\n${data({ type, sequence_number: sequence++, ...more })}`
  return events([
    event('response.created', { response: response('in_progress', []) }),
    event('response.in_progress', { response: response('in_progress', []) }),
    ...items.flatMap((item, index) => itemEvents(item, index, event)),
    event('response.completed', { response: response('completed', items) }),
  ])
}

type Item = ReturnType<typeof responseItems>[number]

function responseItems(said: Said) {
  const reasoning =
    said.reasoning === ''
      ? []
      : [
          {
            id: 'rs_1',
            type: 'reasoning' as const,
            summary: [{ type: 'summary_text', text: said.reasoning }],
          },
        ]
  const message =
    said.text === ''
      ? []
      : [
          {
            id: 'msg_1',
            type: 'message' as const,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: said.text, annotations: [], logprobs: [] }],
          },
        ]
  const calls = said.calls.map(({ id, name, input, namespace, free }) => {
    const called = { call_id: id, name, ...(namespace !== undefined && { namespace }) }
    const status = 'completed'
    return free
      ? {
          id: `ctc_${id}`,
          type: 'custom_tool_call' as const,
          ...called,
          input: String(input['input']),
          status,
        }
      : {
          id: `fc_${id}`,
          type: 'function_call' as const,
          ...called,
          arguments: JSON.stringify(input),
          status,
        }
  })
  return [...reasoning, ...message, ...calls]
}

function itemEvents(
  item: Item,
  output_index: number,
  event: (type: string, more: object) => string,
): string[] {
  const at = { item_id: item.id, output_index }
  const added = (empty: object) =>
    event('response.output_item.added', { output_index, item: { ...item, ...empty } })
  const done = event('response.output_item.done', { output_index, item })
  if (item.type === 'function_call') {
    return [
      added({ arguments: '', status: 'in_progress' }),
      ...halves(item.arguments).map((delta) =>
        event('response.function_call_arguments.delta', { ...at, delta }),
      ),
      event('response.function_call_arguments.done', { ...at, arguments: item.arguments }),
      done,
    ]
  }
  if (item.type === 'custom_tool_call') {
    return [
      added({ input: '', status: 'in_progress' }),
      ...halves(item.input).map((delta) =>
        event('response.custom_tool_call_input.delta', { ...at, delta }),
      ),
      event('response.custom_tool_call_input.done', { ...at, input: item.input }),
      done,
    ]
  }
  if (item.type === 'reasoning') {
    const [part] = item.summary
    const text = part?.text ?? ''
    const place = { ...at, summary_index: 0 }
    return [
      added({ summary: [] }),
      event('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }),
      ...halves(text).map((delta) =>
        event('response.reasoning_summary_text.delta', { ...place, delta }),
      ),
      event('response.reasoning_summary_text.done', { ...place, text }),
      event('response.reasoning_summary_part.done', { ...place, part }),
      done,
    ]
  }
  const [part] = item.content
  const text = part?.text ?? ''
  const place = { ...at, content_index: 0 }
  return [
    added({ content: [], status: 'in_progress' }),
    event('response.content_part.added', { ...place, part: { ...part, text: '' } }),
    ...halves(text).map((delta) =>
      event('response.output_text.delta', { ...place, delta, logprobs: [] }),
    ),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.content_part.done', { ...place, part }),
    done,
  ]
}
