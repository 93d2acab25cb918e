// Shared code of OpenAI's audio, image and similar formats: reads a request's top level, and a reply's usage.

import type { Fault } from '../../errors.ts'
import type { JsonObject } from '../ir.ts'
import { placeOf } from '../json/names.ts'
import { parsedObject } from '../json/value.ts'
import type { WholeReply } from '../reply.ts'
import type { Address, Peek } from '../request.ts'
import { type Body, type Inside, modelOf, nothingInside, readBody, streamOf } from './body.ts'
import { faultInside } from './fault.ts'
import { checkFields, type Rule } from './rules.ts'

/** The members of a peek that one of these formats finds in its own requests. */
export type Found = Partial<
  Pick<
    Peek,
    | 'units'
    | 'likelyUnits'
    | 'audioTokens'
    | 'mostSeconds'
    | 'maxOutputTokens'
    | 'choices'
    | 'imageParam'
    | 'attachments'
    | 'stream'
    | 'inputTokens'
    | 'picture'
  >
>

/** The rules of a format's fields, and all names with a meaning in it. */
interface MediaFormat {
  readonly rules: ReadonlyMap<string, Rule>
  readonly inside: Inside
}

/** `others`: names of fields without a rule. */
export function mediaFormat(
  rules: ReadonlyMap<string, Rule>,
  others: readonly string[] = [],
): MediaFormat {
  const names = placeOf(['model', 'stream', 'stream_options', ...others, ...rules.keys()])
  return { rules, inside: nothingInside(names) }
}

/** Reads a request: `find` checks what the rules cannot. Throws GatewayError naming the field. */
export function peekMedia(
  bytes: Uint8Array,
  address: Address,
  { rules, inside }: MediaFormat,
  find: (body: Body, address: Address) => Found,
): Peek {
  return readBody(bytes, inside, (body) => {
    const { model, modelSpan } = modelOf(body)
    checkFields(body.bytes, body.members, rules)
    return {
      body: body.bytes,
      model,
      modelSpan,
      stream: streamOf(body).stream,
      wantsUsage: true,
      streamOptionsSpan: null,
      bodyEnd: body.end,
      maxOutputTokens: null,
      choices: 1,
      imageParam: null,
      keys: body.keys,
      encodingFormat: 'float',
      tokenInput: false,
      ...find(body, address),
    }
  })
}

/** `outputBytes` defaults to 0. */
type Seen = Omit<WholeReply, 'fault' | 'bytes' | 'outputBytes'> &
  Partial<Pick<WholeReply, 'outputBytes'>>

/** Inspects a whole reply in JSON: `see` reads its facts, or gives its fault. */
export function wholeMedia(bytes: Uint8Array, see: (body: JsonObject) => Seen | Fault): WholeReply {
  const body = parsedObject(new TextDecoder().decode(bytes))
  if (body === null) return failed(bytes, { kind: 'unreadable', message: 'the reply is not JSON' })
  const { error } = body
  if (error != null) return failed(bytes, faultInside(error))
  const seen = see(body)
  if ('kind' in seen) return failed(bytes, seen)
  return { fault: null, bytes, outputBytes: 0, ...seen }
}

function failed(bytes: Uint8Array, fault: Fault): WholeReply {
  return { fault, bytes, usage: null, outputBytes: 0, finishReason: null, model: null }
}
