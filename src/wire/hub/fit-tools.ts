// Adapts a request's tools to what one vendor accepts, and restores the client's names in the calls of the reply.

import type {
  ChatEvent,
  ChatRequest,
  JsonObject,
  Message,
  RequestPart,
  Tool,
  ToolCallPart,
  ToolChoice,
} from '../ir.ts'
import { FreeInput, inputMember } from './free-input.ts'

export interface ToolTraits {
  /** The format in which the vendor is asked. */
  readonly dialect: string
  /** Whether the vendor accepts every tool type of that format, and not only functions. */
  readonly everyType: boolean
  /** See `VendorHub.hasToo`. */
  readonly hasToo?: ((tool: OtherTool) => boolean) | undefined
}

type OtherTool = Extract<Tool, { readonly type: 'other' }>

/** One request adapted to one vendor. */
export interface FittedTools {
  readonly request: ChatRequest
  /** Tools that the vendor is not offered, and tool choices that depended on them. */
  readonly dropped: readonly string[]
  /** How to restore the calls of its reply; null where nothing was renamed or converted. */
  readonly calls: CallNames | null
}

interface CallNames {
  /** The client's tool name by the vendor's. */
  readonly original: ReadonlyMap<string, string>
  /** The client's names of tools with text input that the vendor is offered as functions. */
  readonly free: ReadonlySet<string>
}

/** A name that every vendor accepts: OpenAI's characters and length, and Google's first character. */
const plainName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const longestName = 64

/** An empty name is kept: the vendor refuses it. */
function isPlain(name: string): boolean {
  return name === '' || plainName.test(name)
}

/** A 32-bit hash of a text, in base 36 (FNV-1a). */
function digest(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(36)
}

/** A name that every vendor accepts; `mark` keeps names distinct that are equal once characters are replaced. */
function fittedName(name: string, mark: string): string {
  const letters = name.slice(0, longestName).replace(/[^A-Za-z0-9_-]/g, '_')
  const begun = /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`
  return `${begun.slice(0, longestName - mark.length - 1)}_${mark}`
}

/** Maps the client's tool names to names for the vendor. */
class Names {
  readonly original = new Map<string, string>()
  private readonly given = new Map<string, string>()
  private readonly taken: ReadonlySet<string>
  /** Counter that makes equal names distinct. */
  private twins = 1

  constructor(tools: readonly Tool[]) {
    this.taken = new Set(tools.flatMap((tool) => (tool.type === 'other' ? [] : [tool.name])))
  }

  of(name: string): string {
    if (isPlain(name)) return name
    const known = this.given.get(name)
    if (known !== undefined) return known
    const mark = digest(name)
    let fitted = fittedName(name, mark)
    while (this.taken.has(fitted) || this.original.has(fitted)) {
      fitted = fittedName(name, `${mark}_${++this.twins}`)
    }
    this.given.set(name, fitted)
    this.original.set(fitted, name)
    return fitted
  }
}

export function fitTools(request: ChatRequest, traits: ToolTraits): FittedTools {
  if (fits(request, traits)) return { request, dropped: [], calls: null }
  const dropped: string[] = []
  const tools: Tool[] = []
  const gone = new Set<string>()
  const free = new Set<string>()
  const names = new Names(request.tools ?? [])
  const nameOf = (name: string): string => names.of(name)
  const frees = freesText(traits)
  for (const tool of request.tools ?? []) {
    if (tool.type === 'other') {
      if (isRun(tool, traits)) tools.push(tool)
      else {
        const named = nameOfOther(tool)
        gone.add(named.name)
        dropped.push(`tools.${named.type}`)
      }
    } else {
      if (tool.type === 'custom' && !frees) free.add(tool.name)
      tools.push(fittedTool(tool, nameOf(tool.name), traits))
    }
  }
  const { tools: _, toolChoice: asked, messages, ...rest } = request
  const toolChoice = asked && fittedChoice(asked, { tools, gone, nameOf, dropped })
  return {
    request: {
      ...rest,
      messages: messages.map((message) => fittedMessage(message, nameOf, traits)),
      ...(tools.length > 0 && { tools }),
      ...(toolChoice !== undefined && { toolChoice }),
    },
    dropped,
    calls: names.original.size + free.size === 0 ? null : { original: names.original, free },
  }
}

/** Whether the vendor runs the tool itself, or is left to decide that. */
function isRun(tool: OtherTool, { dialect, hasToo }: ToolTraits): boolean {
  return tool.extra[dialect] !== undefined || hasToo?.(tool) === true
}

/** Whether the vendor accepts tools with text input: only OpenAI's formats have them, and not all of their vendors. */
function freesText({ dialect, everyType }: ToolTraits): boolean {
  return everyType && dialect.startsWith('openai-')
}

/** Whether nothing must change: all tools are functions with names that every vendor accepts. */
function fits({ tools = [], messages }: ChatRequest, traits: ToolTraits): boolean {
  const words = (native: unknown): boolean => native === undefined || traits.everyType
  const frees = freesText(traits)
  for (const tool of tools) {
    if (!words(tool.native)) return false
    if (tool.type === 'other') {
      if (!isRun(tool, traits)) return false
    } else if (!isPlain(tool.name)) return false
    else if (tool.type === 'custom' && !frees) return false
  }
  return messages.every(
    ({ parts, native }) =>
      words(native) &&
      parts.every(
        (part) =>
          part.type !== 'tool-call' ||
          (isPlain(part.name) && words(part.native) && (part.custom !== true || frees)),
      ),
  )
}

/** The type of a tool that a vendor runs itself, and the name by which a tool choice may refer to it. */
function nameOfOther({ extra }: OtherTool): {
  readonly type: string
  readonly name: string
} {
  const [fields = {}] = Object.values(extra)
  const { type, name, server_label: label } = fields
  // In Google's and the chat format such tools have no type: their only member names them.
  const [only = 'unknown'] = Object.keys(fields)
  const known = typeof type === 'string' ? type : only
  const called = typeof name === 'string' ? name : typeof label === 'string' ? label : known
  return { type: known, name: called }
}

type NamedTool = Exclude<Tool, { readonly type: 'other' }>

const textInput: JsonObject = {
  type: 'object',
  properties: { [inputMember]: { type: 'string', description: 'The whole input, as plain text.' } },
  required: [inputMember],
  additionalProperties: false,
}

function fittedTool(tool: NamedTool, name: string, traits: ToolTraits): Tool {
  if (traits.everyType && (tool.type === 'function' || freesText(traits))) return { ...tool, name }
  const { native: _, ...plain } = tool
  if (plain.type === 'function') return { ...plain, name }
  const { format, description, cache, extra } = plain
  const described = [description, grammarIn(format)].filter((text) => text !== undefined)
  return {
    type: 'function',
    name,
    ...(described.length > 0 && { description: described.join('\n\n') }),
    parameters: textInput,
    ...(cache !== undefined && { cache }),
    ...(extra !== undefined && { extra }),
  }
}

/** The grammar as a text for the model to read, at vendors that cannot enforce it. */
function grammarIn(format: JsonObject | undefined): string | undefined {
  const grammar = format?.['grammar']
  if (typeof grammar !== 'object' || grammar === null || Array.isArray(grammar)) return undefined
  const { definition, syntax } = grammar
  if (typeof definition !== 'string') return undefined
  const kind = typeof syntax === 'string' ? `${syntax} grammar` : 'grammar'
  return `The text in \`${inputMember}\` must follow this ${kind}:\n${definition}`
}

function fittedMessage(
  message: Message,
  nameOf: (name: string) => string,
  traits: ToolTraits,
): Message {
  const called = message.parts.some(({ type }) => type === 'tool-call')
  const worded = message.native !== undefined && !traits.everyType
  if (!called && !worded) return message
  const { native, ...rest } = message
  const parts = message.parts.map(
    (part): RequestPart =>
      part.type === 'tool-call' ? fittedCall(part, nameOf(part.name), traits) : part,
  )
  return { ...rest, parts, ...(native !== undefined && !worded && { native }) }
}

function fittedCall(part: ToolCallPart, name: string, traits: ToolTraits): ToolCallPart {
  const { native, custom, ...rest } = part
  const kept = traits.everyType && native !== undefined ? { native } : {}
  if (custom === true && !freesText(traits)) {
    const input = JSON.stringify({ [inputMember]: part.arguments })
    return { ...rest, ...kept, name, arguments: input }
  }
  return { ...rest, ...kept, ...(custom && { custom }), name }
}

interface Offered {
  readonly tools: readonly Tool[]
  readonly gone: ReadonlySet<string>
  readonly nameOf: (name: string) => string
  readonly dropped: string[]
}

/** The tool choice among the remaining tools; it must not require a tool that is gone. */
function fittedChoice(choice: ToolChoice, offered: Offered): ToolChoice | undefined {
  const { tools, gone, nameOf, dropped } = offered
  const { mode } = choice
  if (mode === 'none' || mode === 'auto') return choice
  if (gone.size > 0 && tools.length === 0) {
    dropped.push('tool_choice')
    return undefined
  }
  if (choice.mode === 'tool') {
    if (!gone.has(choice.name)) return { mode: 'tool', name: nameOf(choice.name) }
    dropped.push('tool_choice')
    return { mode: 'auto' }
  }
  if (choice.mode !== 'allowed') return choice
  const left = choice.names.filter((name) => !gone.has(name)).map(nameOf)
  if (left.length > 0) return { ...choice, names: left }
  // All allowed tools are gone.
  dropped.push('tool_choice')
  return { mode: 'none' }
}

/** Restores the client's tool names and input form in the calls of one reply. */
export class CallRestorer {
  private readonly calls: CallNames
  private readonly open = new Map<string, FreeInput>()

  constructor(calls: CallNames) {
    this.calls = calls
  }

  /** The restored event or events; the same object where nothing changes. */
  event(event: ChatEvent): ChatEvent | readonly ChatEvent[] {
    switch (event.type) {
      case 'part-start':
        return event.head.type === 'tool-call' ? this.started(event, event.head) : event
      case 'part-delta': {
        const input = this.open.size === 0 ? undefined : this.open.get(keyOf(event))
        if (input === undefined) return event
        const text = input.push(event.text)
        return text === '' ? [] : { ...event, text }
      }
      case 'part-end': {
        const key = keyOf(event)
        const input = this.open.get(key)
        if (input === undefined) return event
        this.open.delete(key)
        const text = input.end()
        const { choice, part } = event
        return text === '' ? event : [{ type: 'part-delta', choice, part, text }, event]
      }
      default:
        return event
    }
  }

  private started(
    event: Extract<ChatEvent, { readonly type: 'part-start' }>,
    head: Extract<typeof event.head, { readonly type: 'tool-call' }>,
  ): ChatEvent {
    const { original, free } = this.calls
    const name = original.get(head.name) ?? head.name
    const frees = free.has(name) && head.custom !== true
    if (name === head.name && !frees) return event
    if (frees) this.open.set(keyOf(event), new FreeInput())
    return { ...event, head: { ...head, name, ...(frees && { custom: true as const }) } }
  }
}

function keyOf({ choice, part }: { readonly choice: number; readonly part: number }): string {
  return `${choice} ${part}`
}
