// Writes the events of a reply as one whole Anthropic message.

import type { WriterHead } from '../codec.ts'
import { type FoldedPart, fold } from '../hub/fold.ts'
import type { ChatEvent, Extra, JsonObject } from '../ir.ts'
import { argumentsObject } from '../json/exact.ts'
import { carried } from './opaque-state.ts'
import { emptyBlock, formOf, ownCitations, privateFields, writeCitation } from './write-blocks.ts'
import { messageHead, tellsRefusal, writeCounts, writeEnding } from './write-end.ts'

/** Unknown usage is written as zeros, because clients read it without a check. */
export function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const reply = fold(events)
  const [choice] = reply.choices
  const parts = choice?.parts ?? []
  const refusal = parts.map((part) => (part.head.type === 'refusal' ? part.text : '')).join('')
  const extra = merged(choice?.extras ?? [])
  const content = parts.flatMap(blocksOf)
  if (refusal !== '' && !tellsRefusal(extra))
    content.push({ type: 'text', text: refusal, citations: [] })
  const start = { ...reply, type: 'response-start' as const, extra: merged(reply.extras) }
  return {
    ...messageHead(head, start),
    content,
    ...writeEnding({
      reason: choice?.reason ?? 'stop',
      stopText: choice?.stopText ?? undefined,
      extra,
      refusal,
    }),
    usage: writeCounts(reply.usage, extra),
  }
}

function merged(extras: readonly Extra[]): Extra {
  const all: Record<string, JsonObject> = {}
  for (const extra of extras) {
    for (const [owner, fields] of Object.entries(extra)) all[owner] = { ...all[owner], ...fields }
  }
  return all
}

function opaqueBefore(sealed: string | null): JsonObject[] {
  return sealed === null
    ? []
    : [{ type: 'thinking', thinking: '', signature: carried(sealed, 'next') }]
}

function blocksOf(part: FoldedPart): JsonObject[] {
  const { head, text, sealed } = part
  switch (formOf(head)) {
    case 'text': {
      const citations = [
        ...part.citations.map((each) => writeCitation(each, text)),
        ...ownCitations(part.extra),
      ]
      const block = { type: 'text', text, citations }
      return text === '' ? opaqueBefore(sealed) : [...opaqueBefore(sealed), block]
    }
    case 'thinking':
      return [{ type: 'thinking', thinking: text, signature: sealed ?? '' }]
    case 'redacted':
      return sealed === null ? [] : [{ type: 'redacted_thinking', data: sealed }]
    case 'call': {
      const custom = head.type === 'tool-call' && head.custom
      const input = custom ? { input: text } : argumentsObject(text)
      return [...opaqueBefore(sealed), { ...emptyBlock(head), input, ...privateFields(part.extra) }]
    }
    case 'other':
      return [emptyBlock(head)]
    case 'refusal':
    case 'none':
      return []
  }
}
