// Shared by tests of the hub: random replies, the rules that every reply keeps, and streams in pieces.

import fc from 'fast-check'
import type { Reader } from '../src/wire/codec.ts'
import type { ChatEvent, FinishReason, PartHead, Usage } from '../src/wire/ir.ts'
import { FrameSplitter, frameData } from '../src/wire/sse.ts'

const piece = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' })
const pieces = fc.array(piece, { minLength: 1, maxLength: 4 })
const texts = fc.record({
  type: fc.constantFrom('text' as const, 'reasoning' as const, 'refusal' as const),
  pieces,
})
const calls = fc.record({
  type: fc.constant('calls' as const),
  calls: fc.array(fc.record({ name: piece, custom: fc.boolean(), pieces }), {
    minLength: 1,
    maxLength: 3,
  }),
  weave: fc.array(fc.nat(), { maxLength: 12 }),
})
const reason = fc.constantFrom<FinishReason>('stop', 'length', 'tool_calls', 'content_filter')
const choice = fc.record({
  said: fc.array(fc.oneof(texts, calls), { maxLength: 4 }),
  reason,
})
const count = fc.nat(100_000)
const usage: fc.Arbitrary<Usage> = fc.record({
  input: count.map((tokens) => tokens + 1),
  cachedInput: count,
  cacheWrite: count,
  output: count,
  reasoning: count,
})

type Said = (typeof choice extends fc.Arbitrary<infer Choice> ? Choice : never)['said'][number]

/** Takes from the lists by turns, in the order of `order`; the rest follows list by list. */
function woven<T>(lists: readonly (readonly T[])[], order: readonly number[]): T[] {
  const rest = lists.map((list) => [...list])
  const out: T[] = []
  for (const turn of order) {
    const next = rest[turn % Math.max(1, rest.length)]?.shift()
    if (next !== undefined) out.push(next)
  }
  return [...out, ...rest.flat()]
}

/** One choice as steps that events of other choices must not divide. */
class ChoiceSteps {
  readonly steps: ChatEvent[][] = []
  private readonly index: number
  private part = 0
  private last = ''
  private readonly open: number[] = []

  constructor(index: number) {
    this.index = index
  }

  say(said: Said): void {
    if (said.type === 'calls') this.call(said)
    // Two texts of a kind in a row are one to a reader.
    else if (said.type !== this.last) this.text(said.type, said.pieces)
    this.last = said.type
  }

  end(why: FinishReason): void {
    const choice = this.index
    const ends = this.open.map((part): ChatEvent => ({ type: 'part-end', choice, part }))
    // A reply with calls, and no other, has calls as its finish reason.
    const plain = why === 'stop' || why === 'tool_calls'
    const said = !plain ? why : ends.length > 0 ? 'tool_calls' : 'stop'
    this.steps.push([...ends, { type: 'choice-end', choice, reason: said }])
  }

  private text(type: 'text' | 'reasoning' | 'refusal', list: readonly string[]): void {
    const choice = this.index
    const part = this.part++
    const deltas = list.map((text): ChatEvent => ({ type: 'part-delta', choice, part, text }))
    const start: ChatEvent = { type: 'part-start', choice, part, head: { type } }
    this.steps.push([start, ...deltas.slice(0, 1)], ...deltas.slice(1).map((delta) => [delta]))
    this.steps.push([{ type: 'part-end', choice, part }])
  }

  private call({ calls: list, weave }: Extract<Said, { readonly type: 'calls' }>): void {
    const choice = this.index
    const lists = list.map(({ name, custom, pieces: inputs }) => {
      const part = this.part++
      this.open.push(part)
      const id = `call_${choice}_${part}`
      const head: PartHead = { type: 'tool-call', id, name, ...(custom && { custom }) }
      return [
        [{ type: 'part-start', choice, part, head } satisfies ChatEvent],
        ...inputs.map((text): ChatEvent[] => [{ type: 'part-delta', choice, part, text }]),
      ]
    })
    // Calls begin in order, their inputs come in any order.
    this.steps.push(...lists.flatMap((steps) => steps.slice(0, 1)))
    this.steps.push(
      ...woven(
        lists.map((steps) => steps.slice(1)),
        weave,
      ),
    )
  }
}

/** Events of whole replies: choices and parallel calls interleaved, usage last. */
export const replies: fc.Arbitrary<readonly ChatEvent[]> = fc
  .record({
    choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
    order: fc.array(fc.nat(), { maxLength: 40 }),
    usage,
  })
  .map(({ choices, order, usage: counted }) => {
    const lists = choices.map(({ said, reason: why }, index) => {
      const made = new ChoiceSteps(index)
      for (const one of said) made.say(one)
      made.end(why)
      return made.steps
    })
    const start: ChatEvent = {
      type: 'response-start',
      id: 'reply-1',
      model: 'model-1',
      createdAt: 1_700_000_000,
      extra: { 'openai-chat': { system_fingerprint: 'fp_1' } },
    }
    return [start, ...woven(lists, order).flat(), { type: 'usage', usage: counted }]
  })

/** Parts numbered by first appearance in their choice, usage last, ends of parts left out if they add nothing. */
export function normal(events: readonly ChatEvent[]): ChatEvent[] {
  const numbers = new Map<string, number>()
  const next = new Map<number, number>()
  const out: ChatEvent[] = []
  const last: ChatEvent[] = []
  for (const event of events) {
    if (event.type === 'usage') last.push(event)
    else if (!('part' in event)) out.push(event)
    else if (event.type !== 'part-end' || event.extra !== undefined) {
      const key = `${event.choice}:${event.part}`
      const part = numbers.get(key) ?? next.get(event.choice) ?? 0
      if (!numbers.has(key)) next.set(event.choice, part + 1)
      numbers.set(key, part)
      out.push({ ...event, part })
    }
  }
  return [...out, ...last.slice(-1)]
}

/** The violated rules of `ChatEvent`, in words; empty if there are none. */
export function breaches(events: readonly ChatEvent[]): string[] {
  const found: string[] = []
  const parts = new Map<string, { type: PartHead['type']; open: boolean }>()
  const ended = new Set<number>()
  const openIn = (choice: number, texts: boolean): boolean =>
    [...parts].some(
      ([key, part]) =>
        key.startsWith(`${choice}:`) && part.open && (!texts || part.type !== 'tool-call'),
    )
  events.forEach((event, at) => {
    if (event.type === 'fault' || event.type === 'usage') return
    if ((event.type === 'response-start') !== (at === 0)) found.push(`${at}: start not first`)
    if (event.type === 'response-start' || event.choice === null) return
    if (ended.has(event.choice)) found.push(`${at}: after the choice's end`)
    if (event.type === 'choice-end') {
      if (openIn(event.choice, false)) found.push(`${at}: ends with an open part`)
      ended.add(event.choice)
    }
    if (!('part' in event)) return
    const key = `${event.choice}:${event.part}`
    const part = parts.get(key)
    if (event.type === 'part-start') {
      if (part !== undefined) found.push(`${at}: part begun twice`)
      if (event.head.type !== 'tool-call' && openIn(event.choice, true)) {
        found.push(`${at}: two texts open`)
      }
      parts.set(key, { type: event.head.type, open: true })
    } else if (!part?.open) found.push(`${at}: part not open`)
    else if (event.type === 'part-end') part.open = false
  })
  return found
}

/** The data of a stream's frames, including `[DONE]`, with its bytes divided at the given places. */
export function frames(bytes: Uint8Array, cuts: readonly number[]): string[] {
  const splitter = new FrameSplitter()
  const found: string[] = []
  const take = (complete: number): void => {
    for (let at = 0; at < complete; at++) {
      const { data } = frameData(splitter.bytes, splitter.starts[at] ?? 0, splitter.ends[at] ?? 0)
      if (data !== null) found.push(data)
    }
  }
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    if (cut <= from || cut > bytes.length) continue
    take(splitter.push(bytes.subarray(from, cut)))
    from = cut
  }
  take(splitter.end())
  return found
}

/** Reads the frames of a stream up to its terminator. */
export function readAll(reader: Reader, data: readonly string[]): ChatEvent[] {
  const events: ChatEvent[] = []
  for (const frame of data) if (frame !== '[DONE]') events.push(...reader.frame(frame))
  return [...events, ...reader.end()]
}
