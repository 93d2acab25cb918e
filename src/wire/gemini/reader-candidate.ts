// Reads one candidate of a Google reply, frame by frame, into hub events.

import type { ChatEvent, Extra, JsonObject, JsonValue, PartHead } from '../ir.ts'
import { objectExactly } from '../json/exact.ts'
import { isObject, objectOf, objectsIn, setMember, stringOf } from '../json/value.ts'
import { membersOf, withExtra } from './fields.ts'
import { readFinish } from './finish.ts'
import { readCitations } from './grounding.ts'
import { madeId } from './ids.ts'
import { readLogprobs } from './logprobs.ts'
import { PartialArguments } from './partial-args.ts'

interface OpenText {
  readonly type: 'text' | 'reasoning'
  readonly part: number
  text: string
  sealed: string
}

/** A text that ended in this frame, and where among its events. */
interface ClosedText {
  readonly text: OpenText
  readonly at: number
}

interface OpenCall {
  readonly part: number
  readonly pieces: PartialArguments
  args: JsonObject | null
  sealed: string
}

interface Finish {
  readonly word: string
  /** What came with it, for clients of this format. */
  readonly fields: JsonObject
}

/** Members of a candidate with a meaning here; all others are kept for clients of this format. */
const known: ReadonlySet<string> = new Set(['content', 'finishReason', 'index', 'logprobsResult'])

export class CandidateReader {
  readonly index: number
  private finished: Finish | null = null
  private parts = 0
  private calls = 0
  private text: OpenText | null = null
  /** The last text that ended in the frame being read. */
  private closed: ClosedText | null = null
  private call: OpenCall | null = null
  private readonly replyId: string

  constructor(index: number, replyId: string) {
    this.index = index
    this.replyId = replyId
  }

  /** It has a finish reason, and is complete unless more of it comes. */
  get ended(): boolean {
    return this.finished !== null
  }

  /**
   * Reads one element of `candidates`. Some models state a finish reason in every frame, so that what follows one still
   * belongs to the reply. `whole`: the element is from a whole reply, which needs no finish reason to be complete.
   */
  take(raw: JsonObject, whole: boolean, out: ChatEvent[]): void {
    const candidate = membersOf(raw)
    const content = objectOf(candidate['content'])
    this.closed = null
    for (const part of objectsIn(content['parts'])) this.part(membersOf(part), out)
    this.about(candidate, out)
    const given = stringOf(candidate['finishReason'])
    const word = given === 'FINISH_REASON_UNSPECIFIED' ? '' : given
    const fields = fieldsOf(candidate)
    if (word !== '' || whole) this.finish(word || 'STOP', candidate, fields, out)
    else if (this.finished !== null) {
      this.finished = { ...this.finished, fields: { ...this.finished.fields, ...fields } }
    } else {
      const { extra } = withExtra(fields)
      if (extra !== undefined) out.push({ type: 'extra', choice: this.index, extra })
    }
  }

  /** Emits what accompanies the text, probabilities and citations, before its end. */
  private about(candidate: JsonObject, out: ChatEvent[]): void {
    const { text: open, closed, index: choice } = this
    const text = open?.type === 'text' ? open : closed?.text
    if (text === undefined) return
    const { part } = text
    // A call or a picture may stand behind the text, and this still is about the text.
    const behind = text === closed?.text ? out.splice(closed.at) : []
    const probabilities = candidate['logprobsResult']
    if (isObject(probabilities)) {
      const tokens = readLogprobs(probabilities)
      if (tokens.length > 0) out.push({ type: 'logprobs', choice, part, tokens })
    }
    if (candidate['groundingMetadata'] != null || candidate['citationMetadata'] != null) {
      for (const citation of readCitations(candidate, text.text)) {
        out.push({ type: 'citation', choice, part, citation })
      }
    }
    for (const event of behind) out.push(event)
  }

  private part(part: JsonObject, out: ChatEvent[]): void {
    const sealed = stringOf(part['thoughtSignature'])
    const { text, functionCall: call, inlineData: data } = part
    if (typeof text === 'string') {
      this.say(part['thought'] === true ? 'reasoning' : 'text', text, sealed, out)
      return
    }
    if (isObject(call)) {
      this.takeCall(membersOf(call), sealed, out)
      return
    }
    const blob = isObject(data) ? membersOf(data) : {}
    const mediaType = stringOf(blob['mimeType'])
    const shown = mediaType.startsWith('image/') && part['thought'] !== true
    const { thoughtSignature: _, ...rest } = part
    if (shown) this.whole({ type: 'image', mediaType }, stringOf(blob['data']), sealed, out)
    else if (part['thought'] === true && Object.keys(rest).length === 1) {
      this.whole({ type: 'reasoning', redacted: true }, '', sealed, out)
    } else if (Object.keys(rest).length > 0) {
      this.whole({ type: 'other', ...withOther(rest) }, '', sealed, out)
    } else if (sealed !== '') this.say('text', '', sealed, out)
  }

  /** A signature closes the text it came with: what follows is a new part. */
  private say(type: OpenText['type'], text: string, sealed: string, out: ChatEvent[]): void {
    const choice = this.index
    const open = this.text
    const goes = open !== null && open.type === type && open.sealed === ''
    if (!goes) {
      if (text === '' && sealed === '') return
      this.closeCall(out)
      this.closeText(out)
      const part = this.parts++
      this.text = { type, part, text: '', sealed: '' }
      out.push({ type: 'part-start', choice, part, head: { type } })
    }
    const now = this.text
    if (now === null) return
    now.text += text
    now.sealed = sealed
    if (text !== '') out.push({ type: 'part-delta', choice, part: now.part, text })
  }

  private whole(head: PartHead, text: string, sealed: string, out: ChatEvent[]): void {
    const choice = this.index
    this.closeCall(out)
    this.closeText(out)
    const part = this.parts++
    out.push({ type: 'part-start', choice, part, head })
    if (text !== '') out.push({ type: 'part-delta', choice, part, text })
    out.push({ type: 'part-end', choice, part, ...opaqueOf(sealed) })
  }

  private closeText(out: ChatEvent[]): void {
    if (this.text === null) return
    const { part, sealed, type } = this.text
    if (type === 'text') this.closed = { text: this.text, at: out.length }
    out.push({ type: 'part-end', choice: this.index, part, ...opaqueOf(sealed) })
    this.text = null
  }

  /** A call with a name begins; one without a name continues, and its last piece lacks `willContinue`. */
  private takeCall(call: JsonObject, sealed: string, out: ChatEvent[]): void {
    const name = stringOf(call['name'])
    if (name !== '') {
      this.closeCall(out)
      this.closeText(out)
      this.call = this.openCall(name, call, out)
    }
    const open = this.call
    if (open === null) return
    if (sealed !== '') open.sealed = sealed
    open.args = withArgs(open.args, call['args'])
    open.pieces.take(call['partialArgs'])
    if (call['willContinue'] !== true) this.closeCall(out)
  }

  private openCall(name: string, call: JsonObject, out: ChatEvent[]): OpenCall {
    const part = this.parts++
    const origin = this.replyId || JSON.stringify(call)
    const id = stringOf(call['id']) || madeId(origin, this.index, this.calls)
    this.calls++
    const head = { type: 'tool-call', id, name } as const
    out.push({ type: 'part-start', choice: this.index, part, head })
    return { part, pieces: new PartialArguments(), args: null, sealed: '' }
  }

  private closeCall(out: ChatEvent[]): void {
    if (this.call === null) return
    const { part, args, pieces, sealed } = this.call
    const choice = this.index
    const text = JSON.stringify({ ...args, ...pieces.value })
    out.push({ type: 'part-delta', choice, part, text })
    out.push({ type: 'part-end', choice, part, ...opaqueOf(sealed) })
    this.call = null
  }

  private finish(word: string, candidate: JsonObject, more: JsonObject, out: ChatEvent[]): void {
    if (readFinish(word, false) === 'trouble') {
      this.close(out)
      const why = stringOf(candidate['finishMessage'])
      const message = `the vendor stopped with finishReason '${word}'${why === '' ? '' : `: ${why}`}`
      out.push({ type: 'fault', fault: { kind: 'vendor_error', message, code: word } })
      return
    }
    this.finished = { word, fields: { ...this.finished?.fields, ...more } }
  }

  /** Nothing more comes: emits the end, if there was a finish reason. */
  end(out: ChatEvent[]): void {
    if (this.finished === null) return
    const { word, fields } = this.finished
    this.close(out)
    const reason = readFinish(word, this.calls > 0)
    if (reason === 'trouble') return
    // Clients of this format get the vendor's own reason.
    const plain = word === 'STOP' || word === 'MAX_TOKENS' || word === 'SAFETY'
    const shown = plain ? fields : { ...fields, finishReason: word }
    out.push({ type: 'choice-end', choice: this.index, reason, ...withExtra(shown) })
  }

  private close(out: ChatEvent[]): void {
    this.closeCall(out)
    this.closeText(out)
  }
}

/** The arguments with those of another piece: an object or, from vendors that copy another format, its JSON text. */
function withArgs(before: JsonObject | null, given: JsonValue | undefined): JsonObject | null {
  const more = typeof given === 'string' ? objectExactly(given) : given
  return isObject(more) ? { ...before, ...more } : before
}

function fieldsOf(candidate: JsonObject): JsonObject {
  const fields: JsonObject = {}
  for (const name in candidate) if (!known.has(name)) setMember(fields, name, candidate[name])
  return fields
}

function opaqueOf(sealed: string): { sealed?: string } {
  return sealed === '' ? {} : { sealed }
}

function withOther(part: JsonObject): { extra: Extra } {
  return { extra: { gemini: { part: part as JsonValue } } }
}
