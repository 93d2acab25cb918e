// Estimates what a session's next response will use: the conversation so far, the input since, and a reply.

import { noUsage } from '../../billing/authorization.ts'
import { countedTokens } from '../../meter/ceiling.ts'
import type { Usage } from '../../wire/ir.ts'
import type { Added } from '../../wire/openai-realtime/client-event.ts'
import { type SessionFacts, usualFacts } from '../../wire/openai-realtime/session-facts.ts'

/** OpenAI, "Managing costs" of realtime: input audio is one token per 100 ms, output audio one per 50 ms. */
const inputPerSecond = 10
const saidPerSecond = 20
/** An upper estimate for one picture. */
const tokensPerImage = 1_536
/** At least this much is held for a reply, and twice the longest one so far. */
const leastReplyTokens = 1_024
/** The longest reply, unless the model's catalogue entry names another limit. */
const mostReplyTokens = 4_096

export class Expectation {
  facts: SessionFacts = usualFacts
  /** The prompt and the output of the previous response. */
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

  /** Adds input from the client. */
  add({ textBytes, audioBytes, images, clears }: Added): void {
    if (clears) this.audioTokens = 0
    this.textTokens += countedTokens(textBytes)
    this.audioTokens += (audioBytes / this.facts.inputBytesPerSecond) * inputPerSecond
    this.imageTokens += images * tokensPerImage
  }

  /** The output tokens of this many bytes of text or audio. */
  outputTokens(medium: 'text' | 'audio', bytes: number): number {
    if (medium === 'text') return bytes / 4
    return (bytes / this.facts.outputBytesPerSecond) * saidPerSecond
  }

  /** The output tokens to hold for the next reply. */
  get replyTokens(): number {
    const usual = Math.max(leastReplyTokens, 2 * this.longestReply)
    return Math.min(usual, this.mostReply, this.facts.maxOutputTokens ?? usual)
  }

  /** The prompt of a response that begins now. What the vendor had cached is assumed to be cached still. */
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

  /** The usage with this many more output tokens. */
  with(usage: Usage, tokens: number): Usage {
    const more = Math.ceil(tokens)
    if (!this.facts.speaks) return { ...usage, output: usage.output + more }
    return { ...usage, audioOutput: (usage.audioOutput ?? 0) + more }
  }

  /** A response has ended with this usage: the next one reads all of it as its prompt. */
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
