// Asks for a reply that is no JSON object inside an object, as vendors demand it, and takes it out of that object again.

import type { ChatEvent, ChatRequest, JsonObject, JsonValue } from '../ir.ts'
import { isSpace, Nesting } from '../json/nesting.ts'
import { isObject, setMember } from '../json/value.ts'
import { DistinctCalls } from './distinct-calls.ts'
import { CallRestorer, type FittedTools } from './fit-tools.ts'
import { isPlainRoot, resolvedRoot } from './object-schema.ts'
import { TextsApart } from './texts-apart.ts'

/** The member of the object that holds the reply. */
const member = 'value'

/** The request with its tools, and the schema of its reply, as the vendor accepts them. */
export interface Fitted extends FittedTools {
  /** The reply was asked for inside an object. */
  readonly wrapped: boolean
}

/** Changes an event of a reply back to what the client asked for; the same object where nothing changes. */
export interface Restorer {
  event(event: ChatEvent): ChatEvent | readonly ChatEvent[]
}

/** What the events of the reply pass, in this order. `oneText`: see `ClientHub`. */
export function restorersOf(fitted: Fitted | null, oneText: boolean): Restorer[] {
  const { calls = null, wrapped = false } = fitted ?? {}
  return [
    ...(calls === null ? [] : [new CallRestorer(calls)]),
    ...(wrapped ? [new ReplyUnwrapper()] : []),
    ...(oneText ? [new TextsApart()] : []),
    new DistinctCalls(),
  ]
}

interface FittedReply {
  readonly request: ChatRequest
  /** The vendor is asked for the reply inside an object: `restorersOf` gives what takes it out. */
  readonly wrapped: boolean
}

/**
 * The request with a response format whose schema is a plain object's at its root. OpenAI ("Structured outputs":
 * root objects must not be anyOf and must be an object), Cohere and schemas of tools take no other.
 */
export function fitReply(request: ChatRequest): FittedReply {
  const { responseFormat: format } = request
  if (format?.type !== 'schema') return { request, wrapped: false }
  const schema = resolvedRoot(format.schema)
  const { type } = schema
  const untyped = type === undefined && isObject(schema['properties'])
  if (isPlainRoot(schema) && (type === 'object' || untyped)) {
    if (schema === format.schema && !untyped) return { request, wrapped: false }
    const object = { ...schema, type: 'object' }
    return {
      request: { ...request, responseFormat: { ...format, schema: object } },
      wrapped: false,
    }
  }
  return {
    request: { ...request, responseFormat: { ...format, schema: wrapped(schema) } },
    wrapped: true,
  }
}

/** The schema as that of the only member. Definitions go to the root, where references look for them. */
function wrapped({ $schema, $defs, definitions, ...schema }: JsonObject): JsonObject {
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [member]: moved(schema) },
    required: [member],
    additionalProperties: false,
    ...($defs !== undefined && { $defs: moved($defs) }),
    ...(definitions !== undefined && { definitions: moved(definitions) }),
  }
}

/** The same with references to places that have moved into the member. */
function moved(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(moved)
  if (!isObject(value)) return value
  const made: JsonObject = {}
  for (const [name, inner] of Object.entries(value)) {
    if (inner === undefined) continue
    const refers = name === '$ref' && typeof inner === 'string'
    setMember(made, name, refers ? movedRef(inner) : moved(inner))
  }
  return made
}

function movedRef(ref: string): string {
  if (ref !== '#' && !ref.startsWith('#/')) return ref
  if (/^#\/(\$defs|definitions)\//.test(ref)) return ref
  return `#/properties/${member}${ref.slice(1)}`
}

/** Takes the texts of one reply out of the objects they were asked in. */
class ReplyUnwrapper implements Restorer {
  private readonly choices = new Map<number, { part: number | null; value: MemberValue }>()

  event(event: ChatEvent): ChatEvent | readonly ChatEvent[] {
    switch (event.type) {
      case 'part-start':
        if (event.head.type === 'text') this.begin(event.choice, event.part)
        return event
      case 'part-delta': {
        const value = this.openAt(event)
        if (value === null) return event
        const text = value.push(event.text)
        return text === '' ? [] : { ...event, text }
      }
      case 'part-end': {
        const text = this.openAt(event)?.end() ?? ''
        const { choice, part } = event
        return text === '' ? event : [{ type: 'part-delta', choice, part, text }, event]
      }
      default:
        return event
    }
  }

  /** A value may go on in the choice's next text, where something else came between. */
  private begin(choice: number, part: number): void {
    const known = this.choices.get(choice)
    if (known?.value.unfinished === true) known.part = part
    else this.choices.set(choice, { part, value: new MemberValue() })
  }

  private openAt({ choice, part }: { choice: number; part: number }): MemberValue | null {
    const known = this.choices.get(choice)
    return known?.part === part ? known.value : null
  }
}

const opening = new RegExp(`^\\s*\\{\\s*"${member}"\\s*:`)
const bareOpening = `{"${member}":`

/** Reads the member's value out of the object's text, which comes in pieces. */
class MemberValue {
  private state: 'opening' | 'inside' | 'over' | 'other' = 'opening'
  /** Text that is not given out yet: the opening, or space that may end the value. */
  private held = ''
  private nesting = new Nesting()
  private begun = false

  get unfinished(): boolean {
    return this.state === 'inside'
  }

  /** What follows of the value; all of the text, if it is not the object that was asked for. */
  push(piece: string): string {
    if (this.state === 'over') return ''
    if (this.state === 'other') return piece
    if (this.state === 'inside') return this.read(piece)
    this.held += piece
    const found = opening.exec(this.held)
    if (found !== null) {
      const rest = this.held.slice(found[0].length)
      this.held = ''
      this.state = 'inside'
      return this.read(rest)
    }
    return bareOpening.startsWith(this.held.replace(/\s+/g, '')) ? '' : this.end()
  }

  /** The text that was held for an opening that never came. */
  end(): string {
    if (this.state !== 'opening') return ''
    this.state = 'other'
    const { held } = this
    this.held = ''
    return held
  }

  private read(text: string): string {
    const { nesting } = this
    let out = ''
    for (let at = 0; at < text.length; at++) {
      const unit = text.charAt(at)
      const bare = nesting.depth === 0 && !nesting.inString
      if (bare && isSpace(unit)) {
        if (this.begun) this.held += unit
      } else if (bare && (unit === '}' || unit === ',')) {
        this.state = 'over'
        return out
      } else {
        nesting.take(unit)
        out += this.held + unit
        this.held = ''
        this.begun = true
      }
    }
    return out
  }
}
