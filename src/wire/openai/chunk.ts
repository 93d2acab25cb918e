// Scans a chat or text completion (a stream chunk or a whole reply) once, and notes what the gateway acts on.

import { ElementScan, kindAt, MemberScan } from '../json/scan.ts'
import { faultOfFinish } from './fault.ts'
import { stringOf } from './rules.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const OPEN_ARRAY = 0x5b

const choiceList = new ElementScan()
const choice = new MemberScan()
const said = new MemberScan()
const callList = new ElementScan()
const call = new MemberScan()
const callee = new MemberScan()

/** Bytes in UTF-8 of the `\u` escape at `at`; each half of a surrogate pair counts as two of the four. */
function escapedBytes(bytes: Uint8Array, at: number): number {
  const high = (bytes[at] ?? 0) | 0x20
  const low = (bytes[at + 1] ?? 0) | 0x20
  if (high === 0x64 && (low === 0x38 || low === 0x39 || low >= 0x61)) return 2
  if (high !== 0x30) return 3
  if (low === 0x30) return (bytes[at + 2] ?? 0) < 0x38 ? 1 : 2
  return low < 0x38 ? 2 : 3
}

/** Bytes in UTF-8 of the JSON string `bytes[start, end)`; the span includes the quotes, the count does not. */
export function textBytes(bytes: Uint8Array, start: number, end: number): number {
  let count = end - start - 2
  for (let at = start + 1; at < end - 1; at++) {
    if (bytes[at] !== BACKSLASH) continue
    at++
    count -= 1
    if (bytes[at] === 0x75) count -= 5 - escapedBytes(bytes, at + 1)
    if (bytes[at] === 0x75) at += 4
  }
  return count
}

/** Whether the value at `at` is not null, false, or an empty string, list or object. */
function isSomething(bytes: Uint8Array, at: number, end: number): boolean {
  const first = bytes[at]
  if (first === QUOTE) return end - at > 2
  if (first === 0x6e || first === 0x66) return false
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return true
  for (let inner = at + 1; inner < end - 1; inner++) if ((bytes[inner] ?? 0) > 0x20) return true
  return false
}

/** The results of a scan; offsets are -1 where a member is absent. Reusable: `read` resets it. */
export class ChunkScan {
  /** Offset after the object. */
  end = 0
  /** Number of elements of `choices`; -1 where it is not a list. */
  choices = -1
  /** Some choice has content: text, reasoning, a refusal, a call, audio. */
  semantic = false
  /** Bytes of generated text: content, reasoning, refusals and arguments of calls; 0 where they are not counted. */
  outputBytes = 0
  /** Offset of the first finish reason that is a non-empty string. */
  finishAt = -1
  finishEnd = -1
  modelAt = -1
  modelEnd = -1
  /** Offset of the object `usage` at the top level. */
  usageAt = -1
  /** The member that `usageRoot` names is present, so that usage may be inside it. */
  hiddenUsage = false
  /** Some choice is null or says null, or has a list as its content, an empty role, or a call without a list around it. */
  varied = false
  /** Some call has no list around it, no id or type, or arguments that are no text or an empty one. */
  oddCalls = false
  /** How many pieces of calls there are. */
  pieces = 0
  /** The number of the call that a piece goes on with text, as OpenAI writes it; -1: no piece does. */
  continued = -1
  /** That text is not empty. */
  continuedText = false
  /** There is an error at the top level, in a choice or in `x_groq`. */
  error = false
  /** Of several choices, those that have begun, and whether each has a finish reason; kept from chunk to chunk. */
  readonly ends: Map<number, boolean> | null
  private reasoningBytes = 0
  private readonly top = new MemberScan()
  private readonly usageRoot: string
  private readonly counts: boolean

  /**
   * `usageRoot`: the first name of the path to a vendor's nested usage, or ''. `counts`: whether output is counted.
   * `several`: whether more than one choice was asked for, so that their ends are told apart.
   */
  constructor(usageRoot = '', counts = true, several = false) {
    this.usageRoot = usageRoot
    this.counts = counts
    this.ends = several ? new Map() : null
  }

  /** Of several choices, one has begun and has no finish reason yet. */
  get unended(): boolean {
    return this.ends !== null && [...this.ends.values()].includes(false)
  }

  /** Reads the object at `at`. Throws JsonSyntaxError. */
  read(bytes: Uint8Array, at: number): void {
    this.reset()
    const { top } = this
    top.open(bytes, at)
    while (top.next()) {
      const { value } = top
      switch (top.keyEnd - top.keyStart) {
        case 5:
          if (bytes[value] === QUOTE && top.is('model')) {
            this.modelAt = value
            this.modelEnd = top.skip()
          } else if (bytes[value] === OPEN_OBJECT && top.is('usage')) this.usageAt = value
          else if (top.is('error')) this.noteError(bytes, value, top.skip())
          break
        case 6:
          if (bytes[value] === OPEN_OBJECT && top.is('x_groq')) this.readGroq(bytes, value)
          break
        case 7:
          if (bytes[value] === OPEN_ARRAY && top.is('choices')) {
            top.resume(this.readChoices(bytes, value))
          }
          break
        default:
      }
      if (bytes[value] === OPEN_OBJECT && this.usageRoot !== '' && top.is(this.usageRoot)) {
        this.hiddenUsage = true
      }
    }
    this.end = top.at
  }

  private reset(): void {
    this.choices = -1
    this.semantic = false
    this.outputBytes = 0
    this.finishAt = -1
    this.modelAt = -1
    this.usageAt = -1
    this.hiddenUsage = false
    this.varied = false
    this.oddCalls = false
    this.pieces = 0
    this.continued = -1
    this.error = false
  }

  private noteError(bytes: Uint8Array, at: number, end: number): void {
    const first = bytes[at]
    if (first === OPEN_OBJECT || isSomething(bytes, at, end)) this.error = true
  }

  private readGroq(bytes: Uint8Array, at: number): void {
    said.open(bytes, at)
    while (said.next()) if (said.is('error')) this.noteError(bytes, said.value, said.skip())
  }

  private readChoices(bytes: Uint8Array, at: number): number {
    choiceList.open(bytes, at)
    while (choiceList.next()) {
      if (bytes[choiceList.value] !== OPEN_OBJECT) {
        this.varied = true
        continue
      }
      this.readChoice(bytes, choiceList.value)
      choiceList.resume(choice.at)
    }
    this.choices = choiceList.count
    return choiceList.at
  }

  private readChoice(bytes: Uint8Array, at: number): void {
    let index = choiceList.count - 1
    let ends = false
    choice.open(bytes, at)
    while (choice.next()) {
      const { value } = choice
      switch (choice.keyEnd - choice.keyStart) {
        case 4:
          if (bytes[value] === QUOTE && choice.is('text'))
            this.noteText(bytes, value, choice.skip())
          break
        case 5:
          if (choice.is('delta')) this.readSaid(bytes, value)
          else if (this.ends !== null && choice.is('index'))
            index = numberAt(bytes, value, choice.skip())
          else if (choice.is('error')) this.noteError(bytes, value, choice.skip())
          else if (choice.is('usage') && this.usageRoot === 'choices') this.hiddenUsage = true
          break
        case 7:
          if (choice.is('message')) this.readSaid(bytes, value)
          break
        case 13:
          if (bytes[value] === QUOTE && choice.is('finish_reason')) ends = this.noteFinish(bytes)
          break
        default:
      }
    }
    if (this.ends !== null && (ends || !this.ends.has(index))) this.ends.set(index, ends)
  }

  /** Tells whether the choice has a finish reason that says something. */
  private noteFinish(bytes: Uint8Array): boolean {
    const { value } = choice
    const end = choice.skip()
    if (end - value <= 2) return false
    // Of several choices the first tells, unless another one has failed.
    if (this.finishAt >= 0 && faultOfFinish(stringOf(bytes, value, end)) === null) return true
    this.finishAt = value
    this.finishEnd = end
    return true
  }

  private noteText(bytes: Uint8Array, at: number, end: number): void {
    if (end - at <= 2) return
    this.semantic = true
    if (this.counts) this.outputBytes += textBytes(bytes, at, end)
  }

  /** Scans a `delta` or a `message`. */
  private readSaid(bytes: Uint8Array, at: number): void {
    if (bytes[at] !== OPEN_OBJECT) {
      this.varied = true
      return
    }
    this.reasoningBytes = 0
    said.open(bytes, at)
    while (said.next()) {
      const { value } = said
      const first = bytes[value]
      if (first === 0x6e) continue
      switch (said.keyEnd - said.keyStart) {
        case 4:
          if (said.is('role') && !isSomething(bytes, value, said.skip())) this.varied = true
          break
        case 5:
          if (said.is('audio')) this.noteNamed(bytes, value, 'transcript')
          break
        case 6:
          if (said.is('images')) this.noteAny(bytes, value, said.skip())
          break
        case 7:
          if (said.is('refusal')) this.noteTexts(bytes, value)
          else if (said.is('content')) {
            this.varied ||= first === OPEN_ARRAY
            this.noteTexts(bytes, value)
          }
          break
        case 9:
          if (said.is('reasoning')) this.noteReasoning(bytes, value)
          break
        case 10:
          if (said.is('tool_calls')) this.readCalls(bytes, value)
          break
        case 13:
          if (said.is('function_call')) this.noteNamed(bytes, value, 'arguments')
          break
        case 17:
          if (said.is('reasoning_content')) this.noteReasoning(bytes, value)
          else if (said.is('reasoning_details')) this.noteReasoning(bytes, value)
          break
        default:
      }
    }
    choice.resume(said.at)
    this.outputBytes += this.reasoningBytes
  }

  private noteAny(bytes: Uint8Array, at: number, end: number): void {
    if (isSomething(bytes, at, end)) this.semantic = true
  }

  /** Notes a text, or a list of parts with texts. */
  private noteTexts(bytes: Uint8Array, at: number): void {
    const end = said.skip()
    if (bytes[at] === QUOTE) this.noteText(bytes, at, end)
    else if (bytes[at] === OPEN_ARRAY && isSomething(bytes, at, end)) {
      this.semantic = true
      if (this.counts) this.outputBytes += partsBytes(bytes, at)
    }
  }

  /** Notes reasoning; vendors repeat it under several names, of which the longest counts. */
  private noteReasoning(bytes: Uint8Array, at: number): void {
    const end = said.skip()
    if (!isSomething(bytes, at, end)) return
    this.semantic = true
    if (!this.counts) return
    const found =
      bytes[at] === QUOTE
        ? textBytes(bytes, at, end)
        : bytes[at] === OPEN_ARRAY
          ? partsBytes(bytes, at)
          : 0
    if (found > this.reasoningBytes) this.reasoningBytes = found
  }

  /** Notes an object of which one member counts as text. */
  private noteNamed(bytes: Uint8Array, at: number, name: string): void {
    if (bytes[at] !== OPEN_OBJECT) return
    this.noteAny(bytes, at, said.skip())
    if (this.counts) this.outputBytes += namedBytes(bytes, at, name)
  }

  private readCalls(bytes: Uint8Array, at: number): void {
    if (bytes[at] === OPEN_OBJECT) this.readLoneCall(bytes, at)
    if (bytes[at] !== OPEN_ARRAY) return
    callList.open(bytes, at)
    while (callList.next()) {
      this.semantic = true
      this.pieces++
      if (bytes[callList.value] !== OPEN_OBJECT) continue
      this.readCall(bytes, callList.value)
      callList.resume(call.at)
    }
    said.resume(callList.at)
  }

  /** Some vendors send a single call without a list around it. */
  private readLoneCall(bytes: Uint8Array, at: number): void {
    this.semantic = true
    this.varied = true
    this.pieces++
    this.readCall(bytes, at)
    this.oddCalls = true
    said.resume(call.at)
  }

  private readCall(bytes: Uint8Array, at: number): void {
    let index = -1
    let isPlain = true
    let hasId = false
    let hasType = false
    this.continuedText = false
    call.open(bytes, at)
    while (call.next()) {
      const { value } = call
      if (call.is('index')) index = numberAt(bytes, value, call.skip())
      else if (call.is('function') && bytes[value] === OPEN_OBJECT)
        isPlain = this.readCallee(bytes, value, 'arguments') && isPlain
      else if (call.is('custom') && bytes[value] === OPEN_OBJECT) {
        this.readCallee(bytes, value, 'input')
        isPlain = false
      } else if (call.is('type')) hasType = bytes[value] === QUOTE
      else if (isSomething(bytes, value, call.skip())) {
        isPlain = false
        hasId ||= call.is('id')
      }
    }
    this.oddCalls ||= !hasId || !hasType
    this.continued = isPlain ? index : -1
  }

  /** Counts the member `name`; tells whether it is a text, and all that the object has. */
  private readCallee(bytes: Uint8Array, at: number, name: string): boolean {
    let isText = false
    let isAlone = true
    let hasText = false
    callee.open(bytes, at)
    while (callee.next()) {
      const { value } = callee
      const end = callee.skip()
      if (!callee.is(name)) isAlone &&= !isSomething(bytes, value, end)
      else if (bytes[value] === QUOTE) {
        isText = true
        hasText = end - value > 2
        this.continuedText = hasText
        if (this.counts) this.outputBytes += textBytes(bytes, value, end)
      } else if (this.counts && bytes[value] === OPEN_OBJECT) this.outputBytes += end - value
    }
    this.oddCalls ||= !hasText && name === 'arguments'
    return isText && isAlone
  }
}

/** The whole number in `bytes[at, end)`; -1: it is none. */
function numberAt(bytes: Uint8Array, at: number, end: number): number {
  let found = 0
  for (let place = at; place < end; place++) {
    const digit = (bytes[place] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return -1
    found = found * 10 + digit
  }
  return found
}

/** Bytes of the member `name` of the object at `at`: of its text, or of its JSON where it is an object. */
function namedBytes(bytes: Uint8Array, at: number, name: string): number {
  let found = 0
  callee.open(bytes, at)
  while (callee.next()) {
    if (!callee.is(name)) continue
    const end = callee.skip()
    const kind = kindAt(bytes, callee.value)
    if (kind === 'string') found = textBytes(bytes, callee.value, end)
    else if (kind === 'object') found = end - callee.value
  }
  return found
}

/** Bytes of `text` and `summary` in a list of parts. */
function partsBytes(bytes: Uint8Array, at: number): number {
  let found = 0
  callList.open(bytes, at)
  while (callList.next()) {
    if (bytes[callList.value] !== OPEN_OBJECT) continue
    found += namedBytes(bytes, callList.value, 'text')
    found += namedBytes(bytes, callList.value, 'summary')
  }
  return found
}
