// A kept request and its reply as turns of a conversation, from the formats of OpenAI, Anthropic and Gemini.

type Json = Readonly<Record<string, unknown>>

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string }
  | { readonly kind: 'result'; readonly id: string; readonly text: string }
  /** `source`: an address, or `blob:ID`. */
  | { readonly kind: 'media'; readonly source: string }

export interface Turn {
  readonly role: string
  readonly parts: readonly Part[]
}

/** null: a format without turns; the raw body is shown. */
export function conversationOf(request: unknown, reply: unknown): readonly Turn[] | null {
  if (!isObject(request)) return null
  const asked = [
    ...systemOf(request),
    ...listOf(request['messages'] ?? inputOf(request)).flatMap(turnOf),
  ]
  const given = repliesOf(reply)
  return asked.length + given.length === 0 ? null : [...asked, ...given]
}

function systemOf(request: Json): readonly Turn[] {
  const system = request['system'] ?? request['instructions'] ?? request['systemInstruction']
  const parts = partsOf(isObject(system) ? system['parts'] : system)
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

function inputOf(request: Json): unknown {
  const { input, contents, prompt } = request
  if (typeof input === 'string' || typeof prompt === 'string')
    return [{ role: 'user', content: input ?? prompt }]
  return input ?? contents
}

function repliesOf(reply: unknown): readonly Turn[] {
  if (!isObject(reply)) return []
  const { choices, output, content, candidates } = reply
  if (Array.isArray(choices))
    return choices.flatMap((choice: Json) =>
      turnOf(choice['message'] ?? { role: 'assistant', content: choice['text'] }),
    )
  if (Array.isArray(output)) return output.flatMap(turnOf)
  if (Array.isArray(candidates))
    return candidates.flatMap((each: Json) =>
      turnOf({ role: 'assistant', ...objectOf(each['content']) }),
    )
  return content === undefined ? [] : turnOf({ role: 'assistant', content })
}

function turnOf(message: unknown): readonly Turn[] {
  if (!isObject(message)) return []
  const { type, role } = message
  if (type === 'function_call') return [{ role: 'assistant', parts: [callOf(message)] }]
  if (type === 'function_call_output')
    return [{ role: 'tool', parts: [resultOf(message['call_id'], message['output'])] }]
  if (type === 'reasoning')
    return [{ role: 'assistant', parts: reasoning(textOf(message['summary'])) }]
  if (role === 'tool')
    return [{ role, parts: [resultOf(message['tool_call_id'], message['content'])] }]
  const parts = [
    ...reasoning(textOf(message['reasoning_content'] ?? message['reasoning'])),
    ...partsOf(message['content'] ?? message['parts']),
    ...listOf(message['tool_calls']).filter(isObject).map(callOf),
  ]
  return parts.length === 0 ? [] : [{ role: roleOf(role), parts }]
}

function roleOf(role: unknown): string {
  return role === 'model' ? 'assistant' : typeof role === 'string' ? role : 'assistant'
}

function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return listOf(content).flatMap(partOf)
}

function partOf(part: unknown): readonly Part[] {
  if (typeof part === 'string') return [{ kind: 'text', text: part }]
  if (!isObject(part)) return []
  switch (part['type']) {
    case 'tool_use':
      return [callOf(part)]
    case 'tool_result':
      return [resultOf(part['tool_use_id'], part['content'])]
    case 'thinking':
      return reasoning(textOf(part['thinking']))
    case 'image_url':
    case 'input_image':
    case 'image':
    case 'input_audio':
    case 'document':
    case 'file':
    case 'input_file':
      return mediaOf(part)
    default:
      return otherPart(part)
  }
}

function otherPart(part: Json): readonly Part[] {
  const { text, functionCall, functionResponse } = part
  if (typeof text === 'string')
    return [{ kind: part['thought'] === true ? 'reasoning' : 'text', text }]
  if (isObject(functionCall)) return [callOf(functionCall)]
  if (isObject(functionResponse))
    return [
      resultOf(functionResponse['id'] ?? functionResponse['name'], functionResponse['response']),
    ]
  return part['inlineData'] === undefined ? [] : mediaOf(part)
}

/** Wherever a format puts it, stored content is `blob:ID`, also within a data URL; anything else is an address. */
function mediaOf(part: Json): readonly Part[] {
  const found = /"(?:data:[^",]*,)?(blob:[\w-]+|https?:[^"]+)"/.exec(JSON.stringify(part))?.[1]
  return found === undefined ? [] : [{ kind: 'media', source: found }]
}

function callOf(call: Json): Part {
  const detail = isObject(call['function']) ? call['function'] : call
  const input = detail['arguments'] ?? detail['input'] ?? detail['args']
  return {
    kind: 'call',
    id: String(call['id'] ?? call['call_id'] ?? detail['name'] ?? ''),
    name: String(detail['name'] ?? ''),
    input: pretty(input),
  }
}

function resultOf(id: unknown, content: unknown): Part {
  return { kind: 'result', id: String(id ?? ''), text: textOf(content) || pretty(content) }
}

function reasoning(text: string): readonly Part[] {
  return text === '' ? [] : [{ kind: 'reasoning', text }]
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n')
}

function pretty(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null, null, 2)
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
