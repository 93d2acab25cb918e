// A conversation as this page stores it, and in the form of the API.

export interface Attachment {
  readonly name: string
  /** As a part of the message's content; null: only the name was kept. */
  readonly part: object | null
  /** A picture's own bytes as an address; null: not a picture. */
  readonly preview: string | null
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** The error of an answer: the API's, or `offline`. */
export interface Failure {
  readonly code: string
  readonly message: string
}

export interface UserMessage {
  readonly kind: 'user'
  readonly id: string
  readonly text: string
  readonly attachments: readonly Attachment[]
}

interface ToolMessage {
  readonly kind: 'tool'
  readonly id: string
  readonly callId: string
  readonly name: string
  readonly text: string
}

export interface Answer {
  readonly kind: 'assistant'
  readonly id: string
  readonly model: string
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ToolCall[]
  readonly state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  /** null: the gateway has not answered. */
  readonly requestId: string | null
  readonly failure: Failure | null
}

export type Message = UserMessage | ToolMessage | Answer

export const efforts = ['none', 'minimal', 'low', 'medium', 'high'] as const

/** The typed values; empty: the model's default. */
export interface Settings {
  readonly system: string
  readonly temperature: string
  readonly topP: string
  readonly maxTokens: string
  readonly effort: '' | (typeof efforts)[number]
  readonly json: boolean
  /** One per line. */
  readonly stop: string
  /** JSON: a list of tools. */
  readonly tools: string
}

export const noSettings: Settings = {
  system: '',
  temperature: '',
  topP: '',
  maxTokens: '',
  effort: '',
  json: false,
  stop: '',
  tools: '',
}

export function isRunning(message: Message): boolean {
  return message.kind === 'assistant' && ['waiting', 'streaming'].includes(message.state)
}

/** The JSON body of `/v1/chat/completions`. */
export function chatBody(model: string, messages: readonly Message[], settings: Settings): object {
  const { system, temperature, topP, maxTokens, effort, json, stop, tools } = settings
  const stops = stop.split('\n').filter((line) => line !== '')
  const declared = tools.trim() === '' ? [] : JSON.parse(tools)
  const answered = new Set(messages.map((each) => (each.kind === 'tool' ? each.callId : '')))
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.flatMap((message) => sent(message, answered)),
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature.trim() !== '' && { temperature: Number(temperature) }),
    ...(topP.trim() !== '' && { top_p: Number(topP) }),
    ...(maxTokens.trim() !== '' && { max_completion_tokens: Number(maxTokens) }),
    ...(effort !== '' && { reasoning_effort: effort }),
    ...(json && { response_format: { type: 'json_object' } }),
    ...(stops.length > 0 && { stop: stops }),
    ...(declared.length > 0 && { tools: declared }),
  }
}

/** A call without a result is left out, since vendors refuse it. */
function sent(message: Message, answered: ReadonlySet<string>): readonly object[] {
  if (message.kind === 'tool')
    return [{ role: 'tool', tool_call_id: message.callId, content: message.text }]
  if (message.kind === 'user') {
    const parts = message.attachments.flatMap(({ part }) => (part === null ? [] : [part]))
    const text = message.text === '' ? [] : [{ type: 'text', text: message.text }]
    return [{ role: 'user', content: parts.length === 0 ? message.text : [...parts, ...text] }]
  }
  const calls = message.calls
    .filter(({ id }) => answered.has(id))
    .map(({ id, name, arguments: given }) => ({
      id,
      type: 'function',
      function: { name, arguments: given },
    }))
  if (message.text === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: message.text === '' ? null : message.text,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}
