// Tools of a request as one vendor can be offered them, and the calls of its reply as the client named its tools.

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
  /** The format the vendor is asked in. */
  readonly dialect: string
  /** It takes every type of tool of that format, and not functions alone. */
  readonly everyType: boolean
  /** As `VendorHub.hasToo`. */
  readonly hasToo?: ((tool: OtherTool) => boolean) | undefined
}

type OtherTool = Extract<Tool, { readonly type: 'other' }>

/** One request fitted to one vendor. */
export interface FittedTools {
  readonly request: ChatRequest
  /** Tools that the vendor is not offered, and choices that fell with them. */
  readonly dropped: readonly string[]
  /** What its reply calls otherwise than the client does; null where that is nothing. */
  readonly calls: CallNames | null
}

interface CallNames {
  /** By the name the vendor knows: the client's. */
  readonly original: ReadonlyMap<string, string>
  /** The client's names of tools whose input is text, where the vendor is offered functions. */
  readonly free: ReadonlySet<string>
}

/** What every vendor takes: OpenAI's characters and length, and Google's first character. */
const plainName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const longestName = 64

/** No name at all stays none: that is the vendor's to refuse. */
function isPlain(name: string): boolean {
  return name === '' || plainName.test(name)
}

/** 32 bits of a text, in base 36 (FNV-1a). */
function digest(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(36)
}

/** A name that every vendor takes; `mark` tells it from others that look alike once they are cut to what may stand. */
function fittedName(name: string, mark: string): string {
  const letters = name.slice(0, longestName).replace(/[^A-Za-z0-9_-]/g, '_')
  const begun = /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`
  return `${begun.slice(0, longestName - mark.length - 1)}_${mark}`
}

/** Names for the vendor, by the client's. */
class Names {
  readonly original = new Map<string, string>()
  private readonly given = new Map<string, string>()
  private readonly taken: ReadonlySet<string>
  /** Numbers given so far to tell such names apart. */
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

/** The vendor runs the tool itself, or is to judge whether it does. */
function isRun(tool: OtherTool, { dialect, hasToo }: ToolTraits): boolean {
  return tool.extra[dialect] !== undefined || hasToo?.(tool) === true
}

/** OpenAI's formats alone have tools whose input is text, and not every vendor of them does. */
function freesText({ dialect, everyType }: ToolTraits): boolean {
  return everyType && dialect.startsWith('openai-')
}

/** Nothing is to be changed: all tools are functions under names that every vendor takes. */
function fits({ tools = [], messages }: ChatRequest, traits: ToolTraits): boolean {
  const words = (native: unknown): boolean => native === undefined || traits.everyType
  const frees = freesText(traits)
  for (const tool of tools) {
    if (tool.type === 'other') {
      if (!isRun(tool, traits)) return false
    } else if (!isPlain(tool.name) || !words(tool.native)) return false
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

/** By what a tool that a vendor runs itself is known: its type, and the name a choice may have for it. */
function nameOfOther({ extra }: OtherTool): {
  readonly type: string
  readonly name: string
} {
  const [fields = {}] = Object.values(extra)
  const { type, name, server_label: label } = fields
  // Google's and chat's have no type: the one member they have names them.
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
  const { format, description, cache } = plain
  const described = [description, grammarIn(format)].filter((text) => text !== undefined)
  return {
    type: 'function',
    name,
    ...(described.length > 0 && { description: described.join('\n\n') }),
    parameters: textInput,
    ...(cache !== undefined && { cache }),
  }
}

/** A vendor that cannot hold the model to a grammar lets it read what is expected. */
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

/** The choice among the tools that are left: a call that cannot be made is not asked for. */
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
  // Only tools that are gone were allowed.
  dropped.push('tool_choice')
  return { mode: 'none' }
}

/** Gives the calls of one reply the client's names and the inputs it expects. */
export class CallRestorer {
  private readonly calls: CallNames
  private readonly open = new Map<string, FreeInput>()

  constructor(calls: CallNames) {
    this.calls = calls
  }

  /** The event, or those it becomes; the same object where it stays as it is. */
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
