// What a session's next response is expected to use: the conversation until now, what was said since, and a reply.

import { noUsage } from '../../billing/authorization.ts'
import { countedTokens } from '../../meter/ceiling.ts'
import type { Usage } from '../../wire/ir.ts'
import type { Added } from '../../wire/openai-realtime/client-event.ts'
import { type SessionFacts, usualFacts } from '../../wire/openai-realtime/session-facts.ts'

/** OpenAI, "Managing costs" of realtime: sound heard is a token for 100 ms, sound made for 50 ms. */
const inputPerSecond = 10
const saidPerSecond = 20
/** A picture is at most about so many. */
const tokensPerImage = 1_536
/** A reply is held for as at least this many, and as twice the longest before. */
const leastReplyTokens = 1_024
/** No model says more at once unless its catalogue entry says so. */
const mostReplyTokens = 4_096

export class Expectation {
  facts: SessionFacts = usualFacts
  /** The prompt of the response before, with what it said. */
  private before: Usage = noUsage
  private began = false
  private textTokens = 0
  private audioTokens = 0
  private imageTokens = 0
  private longestReply = 0
  private readonly mostReply: number

  constructor(maxOutput: number | null) {
    this.mostReply = maxOutput ?? mostReplyTokens
  }

  /** The client said something. */
  add({ textBytes, audioBytes, images, clears }: Added): void {
    if (clears) this.audioTokens = 0
    this.textTokens += countedTokens(textBytes)
    this.audioTokens += (audioBytes / this.facts.inputBytesPerSecond) * inputPerSecond
    this.imageTokens += images * tokensPerImage
  }

  /** Output tokens of so much, by its medium. */
  outputTokens(medium: 'text' | 'audio', bytes: number): number {
    if (medium === 'text') return bytes / 4
    return (bytes / this.facts.outputBytesPerSecond) * saidPerSecond
  }

  /** Tokens the next reply is held for. */
  get replyTokens(): number {
    const usual = Math.max(leastReplyTokens, 2 * this.longestReply)
    return Math.min(usual, this.mostReply, this.facts.maxOutputTokens ?? usual)
  }

  /** The prompt of a response that begins now. What the vendor had cached, it has cached still. */
  get prompt(): Usage {
    const { before } = this
    const instructions = this.began ? 0 : countedTokens(this.facts.textBytes)
    const audioInput = (before.audioInput ?? 0) + Math.ceil(this.audioTokens)
    const imageInput = (before.imageInput ?? 0) + this.imageTokens
    return {
      ...noUsage,
      input: before.input + this.textTokens + instructions,
      cachedInput: before.cachedInput,
      ...(audioInput > 0 && { audioInput }),
      ...(imageInput > 0 && { imageInput }),
    }
  }

  /** So many more tokens of output than the usage has. */
  with(usage: Usage, tokens: number): Usage {
    const more = Math.ceil(tokens)
    if (!this.facts.speaks) return { ...usage, output: usage.output + more }
    return { ...usage, audioOutput: (usage.audioOutput ?? 0) + more }
  }

  /** A response has ended and has used this: the next one reads all of it, and what it said. */
  ended(used: Usage): void {
    const { output, audioOutput = 0, reasoning } = used
    this.began = true
    this.longestReply = Math.max(this.longestReply, output + audioOutput + reasoning)
    this.before = {
      ...used,
      input: used.input + output,
      audioInput: (used.audioInput ?? 0) + audioOutput,
      output: 0,
      audioOutput: 0,
      reasoning: 0,
    }
    this.textTokens = 0
    this.audioTokens = 0
    this.imageTokens = 0
  }
}
