// Inspects a whole response on the identity path, and adds the cost to a reply.

import { unbelieved } from '../hub/counts.ts'
import type { JsonObject } from '../ir.ts'
import { JsonSyntaxError, type Member, members, parseSpan, skipSpace } from '../json/scan.ts'
import { join, splice } from '../json/splice.ts'
import { isObject, objectsIn } from '../json/value.ts'
import { placeOf } from '../openai/place.ts'
import { responseUsage } from '../openai/usage.ts'
import { faulty, readable, withoutList } from '../openai/whole.ts'
import type { ReplyQuirks, WholeReply } from '../reply.ts'
import { completeCitations } from './citations.ts'
import { fillArguments, lacksArguments } from './event-repair.ts'
import { faultOfResponse } from './fault.ts'
import { finishOf } from './watcher.ts'

/** The members read from every response; its output is read only if no usage was reported. */
const judged = ['status', 'error', 'incomplete_details', 'model', 'usage', 'tool_usage'] as const

function readMembers(body: Uint8Array, found: readonly Member[]): JsonObject {
  const said: JsonObject = {}
  for (const name of judged) {
    const member = found.find(({ key }) => key === name)
    if (member !== undefined) {
      said[name] = parseSpan(body, member.start, member.end) as JsonObject[string]
    }
  }
  return said
}

const encoder = new TextEncoder()

/** Bytes of text, arguments and reasoning in the output. */
function outputBytes(output: JsonObject[string]): number {
  let count = 0
  const add = (value: JsonObject[string]): void => {
    if (typeof value === 'string') count += encoder.encode(value).length
  }
  for (const item of objectsIn(output)) {
    add(item['arguments'])
    add(item['input'])
    for (const list of [item['content'], item['summary']]) {
      for (const part of objectsIn(list)) {
        add(part['text'])
        add(part['refusal'])
      }
    }
  }
  return count
}

export function readWhole(body: Uint8Array, quirks: ReplyQuirks): WholeReply {
  return readable(body, (at) => {
    const found = members(body, at)
    const end = skipSpace(body, found.at(-1)?.end ?? at + 1) + 1
    if (skipSpace(body, end) < body.length) {
      throw new JsonSyntaxError(end, 'unexpected bytes after the reply')
    }
    const said = readMembers(body, found)
    const failed = faultOfResponse(said)
    if (failed !== null) return faulty(body, failed)
    const output = found.find(({ key }) => key === 'output')
    if (output?.kind !== 'array') return faulty(body, withoutList(body, at, end, 'output'))
    const usage = responseUsage(said)
    const list = usage === null ? parseSpan(body, output.start, output.end) : null
    return {
      fault: null,
      bytes: repaired(body, at, end, quirks),
      usage,
      ...unbelieved(usage, said['usage']),
      outputBytes: usage === null ? outputBytes(list as JsonObject[string]) : null,
      finishReason: finishOf(said),
      model: typeof said['model'] === 'string' ? said['model'] : null,
    }
  })
}

/** The reply with its citations completed, and with arguments for its calls that have none. */
function repaired(
  body: Uint8Array,
  at: number,
  end: number,
  { bareCitations }: ReplyQuirks,
): Uint8Array {
  const isCalling = lacksArguments(body, at)
  if (bareCitations !== true && !isCalling) return body
  const value = parseSpan(body, at, end) as JsonObject
  const isFilled = isCalling && fillArguments(value)
  const isCompleted = bareCitations === true && completeCitations(value)
  return isFilled || isCompleted ? encoder.encode(JSON.stringify(value)) : body
}

/** Paths of usage: in an event it is inside the response. */
const usagePaths = [['response', 'usage'], ['usage']] as const

/** Adds the cost (a decimal) to the usage of a whole response or of an event with one; unchanged without usage. */
export function withCost(bytes: Uint8Array, cost: string): Uint8Array {
  const start = bytes.indexOf(0x7b)
  if (start < 0) return bytes
  try {
    for (const path of usagePaths) {
      const place = placeOf(bytes, start, path)
      if (place === null || bytes[place.start] !== 0x7b) continue
      const usage = parseSpan(bytes, place.start, place.end)
      if (!isObject(usage)) continue
      const text = JSON.stringify({ ...usage, cost })
      return join(splice(bytes, [{ start: place.start, end: place.end, text }]))
    }
    return bytes
  } catch (error) {
    if (error instanceof JsonSyntaxError) return bytes
    throw error
  }
}
