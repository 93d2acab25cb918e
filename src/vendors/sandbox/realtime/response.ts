// One response of the sandbox's realtime sessions: its events in order, one word of text or audio at a time.

import { Buffer } from 'node:buffer'
import type { JsonObject, JsonValue } from '../../../wire/ir.ts'
import { tokensPerSecond } from '../media/speech.ts'
import { sampleRate, secondsOf, type Tune, tuneOf } from '../media/tune.ts'
import { echo, joined, type Output, sized } from '../text.ts'

/** An event to the client; its sender adds the `event_id`. */
export type ServerEvent = JsonObject & { readonly type: string }

interface ResponseRequest {
  readonly responseId: string
  readonly itemId: string
  readonly previousItemId: string | null
  /** Null: the response is not part of the conversation. */
  readonly conversationId: string | null
  readonly speaks: boolean
  /** The text that the response echoes. */
  readonly said: string
  /** The number of words; null: those of the natural sentence. */
  readonly tokens: number | null
  /** The client's limit for words and audio together. */
  readonly maxTokens: number | null
  readonly inputTokens: TokenCounts
  readonly metadata: JsonValue
  readonly countsUsage: boolean
}

interface TokenCounts {
  readonly text: number
  readonly audio: number
}

export type Outcome = 'completed' | 'cancelled' | 'failed'

export class SandboxResponse {
  readonly request: ResponseRequest
  /** The number of steps, one for each word. */
  readonly steps: number
  private readonly words: Output
  private readonly cut: boolean
  private readonly tune: Tune | null
  private readonly place: JsonObject

  constructor(request: ResponseRequest) {
    const whole = sized(echo(request.said), request.tokens, null)
    const steps = stepsWithin(whole, request)
    this.request = request
    this.words = { length: steps, at: (index) => whole.at(index) }
    this.steps = steps
    this.cut = steps < whole.length
    this.tune = request.speaks && steps > 0 ? tuneOf(joined(this.words)) : null
    const { responseId, itemId } = request
    this.place = { response_id: responseId, item_id: itemId, output_index: 0, content_index: 0 }
  }

  opening(): readonly ServerEvent[] {
    const item = this.item(0, 'in_progress')
    return [
      { type: 'response.created', response: this.shown('in_progress', null, [], null) },
      { type: 'response.output_item.added', ...this.inResponse, item },
      ...this.inConversation('conversation.item.added', item),
      { type: 'response.content_part.added', ...this.place, part: this.part('') },
    ]
  }

  /** The word, with its audio before it where the response is spoken. */
  step(index: number): readonly ServerEvent[] {
    const { place, tune } = this
    const delta = this.words.at(index)
    if (tune === null) return [{ type: 'response.output_text.delta', ...place, delta }]
    const sound = tune.pcm(this.samplesOf(index), this.samplesOf(index + 1))
    return [
      {
        type: 'response.output_audio.delta',
        ...place,
        delta: Buffer.from(sound.buffer).toString('base64'),
      },
      { type: 'response.output_audio_transcript.delta', ...place, delta },
    ]
  }

  /** The final events after `said` words. */
  ending(said: number, outcome: Outcome): readonly ServerEvent[] {
    const { place } = this
    const text = this.textOf(said)
    const status = outcome === 'completed' && this.cut ? 'incomplete' : outcome
    const item = this.item(said, status === 'completed' ? status : 'incomplete')
    const done: readonly ServerEvent[] = this.request.speaks
      ? [
          { type: 'response.output_audio.done', ...place },
          { type: 'response.output_audio_transcript.done', ...place, transcript: text },
        ]
      : [{ type: 'response.output_text.done', ...place, text }]
    const usage = this.request.countsUsage ? this.usage(said) : null
    return [
      ...done,
      { type: 'response.content_part.done', ...place, part: this.part(text) },
      ...this.inConversation('conversation.item.done', item),
      { type: 'response.output_item.done', ...this.inResponse, item },
      {
        type: 'response.done',
        response: this.shown(status, detailsOf.get(status) ?? null, [item], usage),
      },
    ]
  }

  /** The tokens of this many words. */
  saidTokens(said: number): TokenCounts {
    const seconds = this.samplesOf(said) / sampleRate
    return { text: said, audio: Math.ceil(seconds * tokensPerSecond) }
  }

  private get inResponse() {
    return { response_id: this.request.responseId, output_index: 0 }
  }

  private inConversation(type: string, item: JsonObject): readonly ServerEvent[] {
    const { conversationId, previousItemId } = this.request
    return conversationId === null ? [] : [{ type, previous_item_id: previousItemId, item }]
  }

  private samplesOf(words: number): number {
    return this.tune === null ? 0 : Math.round((this.tune.samples * words) / this.steps)
  }

  private textOf(said: number): string {
    return joined({ ...this.words, length: said })
  }

  private part(text: string): JsonObject {
    return this.request.speaks ? { type: 'audio', transcript: text } : { type: 'text', text }
  }

  private item(said: number, status: string): JsonObject {
    const text = this.textOf(said)
    const content = this.request.speaks
      ? { type: 'output_audio', transcript: text }
      : { type: 'output_text', text }
    return {
      id: this.request.itemId,
      object: 'realtime.item',
      type: 'message',
      status,
      role: 'assistant',
      content: status === 'in_progress' ? [] : [content],
    }
  }

  private shown(
    status: string,
    details: JsonObject | null,
    output: readonly JsonObject[],
    usage: JsonObject | null,
  ): JsonObject {
    const { responseId, conversationId, speaks, maxTokens, metadata } = this.request
    return {
      object: 'realtime.response',
      id: responseId,
      status,
      status_details: details,
      output: [...output],
      conversation_id: conversationId,
      output_modalities: [speaks ? 'audio' : 'text'],
      max_output_tokens: maxTokens ?? 'inf',
      usage,
      metadata,
    }
  }

  private usage(said: number): JsonObject {
    const { inputTokens } = this.request
    const spoken = this.saidTokens(said)
    const [input, output] = [inputTokens.text + inputTokens.audio, spoken.text + spoken.audio]
    return {
      total_tokens: input + output,
      input_tokens: input,
      output_tokens: output,
      input_token_details: {
        text_tokens: inputTokens.text,
        audio_tokens: inputTokens.audio,
        image_tokens: 0,
        cached_tokens: 0,
        cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
      },
      output_token_details: { text_tokens: spoken.text, audio_tokens: spoken.audio },
    }
  }
}

const detailsOf: ReadonlyMap<string, JsonObject> = new Map(
  Object.entries({
    incomplete: { type: 'incomplete', reason: 'max_output_tokens' },
    cancelled: { type: 'cancelled', reason: 'client_cancelled' },
    failed: {
      type: 'failed',
      error: {
        type: 'server_error',
        code: 'server_error',
        message: 'The vendor failed (sandbox fault).',
      },
    },
  }),
)

/** The number of words that fit the client's limit together with their audio. */
function stepsWithin(text: Output, { speaks, maxTokens }: ResponseRequest): number {
  if (maxTokens === null) return text.length
  if (!speaks) return Math.min(text.length, maxTokens)
  let characters = 0
  for (let steps = 0; steps < Math.min(text.length, maxTokens); steps += 1) {
    characters += [...text.at(steps)].length
    const sound = Math.ceil(secondsOf(characters) * tokensPerSecond)
    if (steps + 1 + sound > maxTokens) return steps
  }
  return Math.min(text.length, maxTokens)
}
