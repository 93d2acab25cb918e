// Decodes a Responses request into the hub: items become messages, those of one model turn a single message.

import { invalidRequest } from '../../errors.ts'
import type { Decoded } from '../codec.ts'
import type { ChatRequest, JsonObject, JsonValue, Message, RequestPart, Role } from '../ir.ts'
import { isObject, listOf, objectsIn, stringOf } from '../json/value.ts'
import { present } from '../openai-chat/hub-fields.ts'
import { clientToolOfItem } from './client-tools.ts'
import { self, withExtra } from './hub-fields.ts'
import { carriedBy } from './hub-opaque-state.ts'
import { decodeParts } from './hub-parts.ts'
import { takeKept, takePlain, takeReasoning, takeText } from './hub-settings.ts'
import { type Catalog, catalogOf, namesIn, takeTools } from './hub-tools.ts'
import { summaryIn, summaryMessage } from './summary.ts'
import type { ToolNames } from './tool-names.ts'

const roles: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer'])

function roleOf(value: JsonValue | undefined, place: string): Role {
  if (typeof value === 'string' && roles.has(value)) return value as Role
  const param = `${place}.role`
  throw invalidRequest(`${param} must be user, assistant, system or developer`, param)
}

/** A model turn in progress: its reasoning, texts and calls, until another role follows. */
class Turn {
  readonly parts: RequestPart[] = []
  /** Private fields of the turn's message item; null until one was read. */
  fields: JsonObject | null = null
  /** The places of the last text, and of the last call with an id. */
  private text = -1
  private readonly calls = new Map<string, number>()

  add(part: RequestPart): void {
    if (part.type === 'text') this.text = this.parts.length
    else if (part.type === 'tool-call') this.calls.set(part.id, this.parts.length)
    this.parts.push(part)
  }

  /** Puts opaque state back on its part; without that part it is lost. */
  putOpaque({ sealed, callId }: { readonly sealed: string; readonly callId: string | null }): void {
    const at = callId === null ? this.text : (this.calls.get(callId) ?? -1)
    const part = this.parts[at]
    if (part?.type === 'text' || part?.type === 'tool-call') this.parts[at] = { ...part, sealed }
  }
}

class Items {
  readonly messages: Message[] = []
  /** Places of content that no other model can read. */
  readonly dropped: string[] = []
  private turn: Turn | null = null
  private readonly catalog: Catalog

  constructor(catalog: Catalog) {
    this.catalog = catalog
  }

  take(item: JsonObject, place: string): void {
    const { type } = item
    switch (type) {
      case undefined:
      case 'message':
        this.message(item, place)
        return
      case 'reasoning':
        this.reasoning(item)
        return
      case 'function_call':
      case 'custom_tool_call':
        this.open().add(callOf(item, type === 'custom_tool_call', this.catalog.names))
        return
      case 'additional_tools':
        // Its tools are already in the catalog.
        return
      case 'agent_message':
        this.agentMessage(item, place)
        return
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.answer(item, place)
        return
      case 'compaction':
        this.compaction(item)
        return
      case 'compaction_trigger':
        throw invalidRequest(
          `${place}: this model's vendor does not compact automatically; use /v1/responses/compact`,
          place,
        )
      case 'item_reference':
        throw invalidRequest(
          `${place}: the item '${stringOf(item['id'])}' is not known to this model's vendor`,
          place,
        )
      case 'image_generation_call':
        this.picture(item)
        return
      default:
        this.further(item)
    }
  }

  /** A message between Codex agents. OpenAI would encrypt the text; that of other models may be plain in its place. */
  private agentMessage(item: JsonObject, place: string): void {
    this.end()
    const parts: RequestPart[] = []
    for (const [at, part] of objectsIn(item['content']).entries()) {
      const text = stringOf(part['text']) || stringOf(part['encrypted_content'])
      if (isEncrypted(text)) this.dropped.push(`${place}.content[${at}]`)
      else parts.push({ type: 'text', text })
    }
    this.messages.push({ role: 'user', parts, native: { [self]: { item } } })
  }

  /** A picture that a vendor made: models of other formats see it too. */
  private picture(item: JsonObject): void {
    const extra = { [self]: item }
    const data = stringOf(item['result'])
    const url = `data:image/${stringOf(item['output_format']) || 'png'};base64,${data}`
    this.open().add(data === '' ? { type: 'other', extra } : { type: 'image', url, extra })
  }

  /** A call or an answer of a tool with its own item types, or an item that only this format knows. */
  private further(item: JsonObject): void {
    const { names } = this.catalog
    const known = clientToolOfItem(item)
    const id = stringOf(item['call_id']) || stringOf(item['id'])
    const native = { [self]: { item } }
    const { caller } = present(item)
    const extra = caller === undefined ? {} : withExtra({ caller })
    if (known === null || id === '') {
      this.open().add({ type: 'other', extra: { [self]: item } })
    } else if (known.call === item['type']) {
      const input = JSON.stringify(known.input(item))
      const name = names.ofType(known.type)
      this.open().add({ type: 'tool-call', id, name, arguments: input, ...extra, native })
    } else {
      this.end()
      const text = outputText(item, names)
      this.messages.push({
        role: 'tool',
        callId: id,
        parts: [{ type: 'text', text }],
        ...extra,
        native,
      })
    }
  }

  end(): void {
    const { turn } = this
    this.turn = null
    if (turn === null) return
    const { parts, fields } = turn
    this.messages.push({ role: 'assistant', parts, ...withExtra(fields ?? {}) })
  }

  private open(): Turn {
    this.turn ??= new Turn()
    return this.turn
  }

  private message(item: JsonObject, place: string): void {
    const { role: named, content, ...rest } = present(item)
    const role = roleOf(named, place)
    const parts = decodeParts(content, `${place}.content`)
    if (role !== 'assistant') {
      this.end()
      // The id under which the item was listed is unknown to vendors.
      const { id: _, status: __, ...own } = rest
      this.messages.push({ role, parts, ...withExtra(own) })
      return
    }
    // Reasoning belongs to the message after it; a message after a call begins another turn.
    const fresh = this.turn?.parts.every(({ type }) => type === 'reasoning') ?? true
    if (!fresh || (this.turn !== null && this.turn.fields !== null)) this.end()
    const turn = this.open()
    turn.fields = rest
    for (const part of parts) turn.add(part)
  }

  private reasoning(item: JsonObject): void {
    const { type: _, summary, content, encrypted_content: sealed, ...rest } = present(item)
    const carried = carriedBy(stringOf(sealed))
    if (carried !== null) {
      this.open().putOpaque(carried)
      return
    }
    const said = [summary, content].map((list) =>
      objectsIn(list)
        .map((part) => stringOf(part['text']))
        .join('\n\n'),
    )
    const text = said[0] || said[1] || ''
    const isOpaque = typeof sealed === 'string' && sealed !== ''
    const extra = withExtra(rest)
    const opaque = isOpaque ? { sealed } : {}
    if (text !== '') this.open().add({ type: 'reasoning', text, ...opaque, ...extra })
    else if (isOpaque) {
      this.open().add({ type: 'reasoning', text, sealed, redacted: true, ...extra })
    } else this.open().add({ type: 'reasoning', text, ...extra })
  }

  /** The gateway's own summary goes to any model as text; a vendor's goes back to the channel that made it. */
  private compaction(item: JsonObject): void {
    const { encrypted_content: content, ...rest } = present(item)
    const sealed = stringOf(content)
    const summary = summaryIn(sealed)
    if (summary === null) {
      const extra = withExtra(rest)
      this.open().add({ type: 'reasoning', text: '', sealed, redacted: true, ...extra })
      return
    }
    this.end()
    this.messages.push(summaryMessage(summary))
  }

  private answer(item: JsonObject, place: string): void {
    this.end()
    const { type, call_id: callId, output, ...rest } = present(item)
    if (typeof callId !== 'string') {
      throw invalidRequest(`${place}.call_id must be a string`, `${place}.call_id`)
    }
    const parts = decodeParts(output ?? '', `${place}.output`)
    const custom = type === 'custom_tool_call_output' && { native: { [self]: { custom: true } } }
    this.messages.push({ role: 'tool', callId, parts, ...withExtra(rest), ...custom })
  }
}

function callOf(item: JsonObject, custom: boolean, names: ToolNames): RequestPart {
  const { type: _, call_id: callId, arguments: input, input: text, ...own } = present(item)
  const { name, namespace, ...rest } = own
  const inside = typeof namespace === 'string' && namespace !== ''
  return {
    type: 'tool-call',
    id: stringOf(callId),
    name: inside ? names.inside(namespace, stringOf(name)) : stringOf(name),
    arguments: stringOf(custom ? text : input),
    ...(custom && { custom }),
    ...withExtra(rest),
    ...(inside && { native: { [self]: { namespace, name: stringOf(name) } } }),
  }
}

/** OpenAI's encrypted text is a Fernet token, which begins with its version and time. */
function isEncrypted(text: string): boolean {
  return /^gAAAA[\w=-]+$/.test(text)
}

/** The text of an answer item. For found tools it is the names they have here; their definitions are in the catalog. */
function outputText(item: JsonObject, names: ToolNames): string {
  const { type, output, status, tools } = item
  if (type === 'tool_search_output') return JSON.stringify(namesIn(tools, names))
  if (typeof output === 'string') return output
  return output == null ? stringOf(status) : JSON.stringify(output)
}

function messagesOf(input: JsonValue | undefined, catalog: Catalog): Decoded<Message[]> {
  if (typeof input === 'string') {
    return { value: [{ role: 'user', parts: [{ type: 'text', text: input }] }], dropped: [] }
  }
  const items = new Items(catalog)
  for (const [at, item] of listOf(input).entries()) {
    const place = `input[${at}]`
    if (!isObject(item)) throw invalidRequest(`${place} must be an object`, place)
    items.take(item, place)
  }
  items.end()
  return { value: items.messages, dropped: items.dropped }
}

/** Null counts as absent. Throws GatewayError naming the field. */
export function decodeRequest(body: JsonObject): Decoded<ChatRequest> {
  const rest = present(body)
  const wording: JsonObject = {}
  const { model, input, instructions, stream, prompt } = rest
  if (typeof model !== 'string') throw invalidRequest('model must be a string', 'model')
  if (prompt !== undefined) {
    throw invalidRequest(
      "prompt: templates are stored at OpenAI; this model's vendor has none",
      'prompt',
    )
  }
  for (const name of ['model', 'input', 'instructions', 'stream', 'stream_options']) {
    delete rest[name]
  }
  const catalog = catalogOf(rest['tools'], input)
  const { value: messages, dropped } = messagesOf(input, catalog)
  if (typeof instructions === 'string') {
    wording['instructions'] = instructions
    const parts: RequestPart[] = [{ type: 'text', text: instructions }]
    if (instructions !== '') {
      messages.unshift({ role: 'system', parts, ...withExtra({ instructions: true }) })
    }
  }
  const plain = takePlain(rest)
  takeKept(rest, wording)
  const value: ChatRequest = {
    model,
    messages,
    stream: stream === true,
    ...plain,
    ...takeReasoning(rest),
    ...takeText(rest),
    ...takeTools(rest, wording, catalog),
    ...withExtra(rest),
    // Present even if empty: it marks the client as one of this format.
    wording: { [self]: wording },
  }
  return { value, dropped }
}
