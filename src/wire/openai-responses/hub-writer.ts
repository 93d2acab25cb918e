// Writes hub events as a Responses stream, and as the resulting response.

import type { GatewayError } from '../../errors.ts'
import type { Writer, WriterHead } from '../codec.ts'
import type { ChatEvent, Extra, FinishReason, JsonObject, Usage } from '../ir.ts'
import { objectsIn, setMember } from '../json/value.ts'
import { tierOf } from '../openai/reply-tier.ts'
import { failFrames, frameOf } from './errors.ts'
import { askedOf, bodyOf, endOf, usageOf } from './hub-body.ts'
import { ownFields, self } from './hub-fields.ts'
import { Output } from './hub-output.ts'
import { originsOf, type ToolOrigins } from './tool-origins.ts'

const noOrigins: ToolOrigins = new Map()

type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { readonly type: Type }>

export class ResponsesWriter implements Writer {
  private readonly head: WriterHead
  private readonly asked: JsonObject
  private readonly output: Output
  private sequence = 0
  private start: EventOf<'response-start'> | null = null
  /** The vendor's private members of the response, where it speaks this format. */
  private extras: JsonObject = {}
  private usage: Usage | null = null
  private reason: FinishReason | null = null
  private opened = false

  constructor(head: WriterHead) {
    this.head = head
    this.asked = askedOf(head)
    const emit = (type: string, fields: JsonObject): string =>
      frameOf(type, this.sequence++, fields)
    const next = (): number => this.sequence++
    const origins = head.request === undefined ? noOrigins : originsOf(head.request)
    this.output = new Output(head.id.replace(/^resp_/, ''), origins, emit, next)
  }

  event(event: ChatEvent): string {
    switch (event.type) {
      case 'response-start':
        this.start = event
        this.take(event.extra)
        return this.open()
      case 'usage':
        this.usage = event.usage
        return ''
      case 'extra':
        if (event.choice === null) this.take(event.extra)
        else if (event.choice === 0) this.output.items.takeNext(ownFields(event.extra)['item'])
        return ''
      case 'fault':
        // The relay reports faults to the client, as this format's error frames.
        return ''
      default:
        // The format has a single choice.
        return event.choice === 0 ? this.open() + this.say(event) : ''
    }
  }

  end(): string {
    const opened = this.open()
    const { status } = endOf(this.reason)
    const type = status === 'incomplete' ? 'response.incomplete' : 'response.completed'
    return opened + frameOf(type, this.sequence++, { response: this.response() })
  }

  fail(error: GatewayError): string {
    const said = this.open() + this.output.close(null)
    return said + failFrames(error, this.body(), this.sequence)
  }

  /** The response at the end of the reply. */
  response(): JsonObject {
    return { ...this.body(), ...endOf(this.reason) }
  }

  private body(): JsonObject {
    const { head, start, asked, extras, usage } = this
    const own = start?.extra?.[self] !== undefined && start.id !== ''
    const body = bodyOf(
      {
        id: own ? start.id : head.id,
        model: start?.model || head.model,
        createdAt: start?.createdAt || head.createdAt,
      },
      asked,
      extras,
    )
    body['output'] = this.output.items.all()
    body['usage'] = usage === null ? null : usageOf(usage)
    return body
  }

  private take(extra: Extra | undefined): void {
    for (const [name, value] of Object.entries({ ...tierOf(extra), ...ownFields(extra) }))
      setMember(this.extras, name, value)
  }

  private open(): string {
    if (this.opened) return ''
    this.opened = true
    const created = frameOf('response.created', this.sequence++, { response: this.body() })
    return created + frameOf('response.in_progress', this.sequence++, { response: this.body() })
  }

  private say(
    event: Exclude<ChatEvent, { readonly type: 'response-start' | 'usage' | 'extra' | 'fault' }>,
  ): string {
    const { output } = this
    switch (event.type) {
      case 'part-start':
        return output.start(event.part, event.head)
      case 'part-delta':
        return output.delta(event.part, event.text)
      case 'part-end': {
        const { annotations } = ownFields(event.extra)
        const own = objectsIn(annotations)
        return output.end(event.part, event.sealed ?? null, own)
      }
      case 'citation':
        return output.cite(event.part, event.citation)
      case 'logprobs':
        output.tell(event.part, event.tokens)
        return ''
      case 'choice-end':
        this.reason = event.reason
        return output.close(event.reason)
    }
  }
}

/** Builds the whole response by running its stream. */
export function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const writer = new ResponsesWriter(head)
  for (const event of events) writer.event(event)
  return writer.response()
}
