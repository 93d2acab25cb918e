// A sandbox session as a state machine: answers each client event with events, without timers or a socket.

import { GatewayError, invalidRequest } from '../../../errors.ts'
import type { JsonObject, JsonValue } from '../../../wire/ir.ts'
import { isObject, stringOf, wholeNumber } from '../../../wire/json/value.ts'
import { sessionFacts } from '../../../wire/openai-realtime/session-facts.ts'
import { identifier } from '../../hash.ts'
import type { SandboxSettings } from '../settings.ts'
import { countTokens } from '../text.ts'
import {
  type Item,
  itemOf,
  perItem,
  placeAfter,
  shownItem,
  soundBytes,
  soundItem,
} from './items.ts'
import { type Outcome, SandboxResponse, type ServerEvent } from './response.ts'
import { changedSession, memberOf, speaks, usualSession } from './settings.ts'

type Events = readonly ServerEvent[]

/** Less audio than this cannot be committed, as at OpenAI. */
const leastSeconds = 0.1
const maxItems = 10_000
const listened = 'The sandbox of Tollgate transcribes, no model listened.'

interface Running {
  readonly response: SandboxResponse
  /** The number of words spoken so far. */
  readonly said: number
}

export class SandboxConversation {
  /** The running response. */
  running: Running | null = null
  private readonly settings: SandboxSettings
  private readonly id: string
  private session: JsonObject
  private items: Item[] = []
  private soundBytes = 0
  private made = 0

  constructor(model: string, settings: SandboxSettings) {
    this.settings = settings
    this.id = identifier(model)
    this.session = usualSession(`sess_sandbox_${this.id}`, model)
  }

  opening(): Events {
    return [{ type: 'session.created', session: this.session }]
  }

  /** The events that answer a client's event. Invalid events do not throw: they are answered with an `error` event. */
  take(event: JsonObject): Events {
    try {
      return this.answer(event)
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return [errorOf(error, event['event_id'])]
    }
  }

  /** The next word of the running response, and its end after the last one. */
  advance(): Events {
    if (this.running === null) return []
    const { response, said } = this.running
    const word = said < response.steps ? response.step(said) : []
    this.running = { response, said: Math.min(response.steps, said + 1) }
    return this.running.said < response.steps ? word : [...word, ...this.end('completed')]
  }

  /** Ends the running response at its present word. */
  end(outcome: Outcome): Events {
    if (this.running === null) return []
    const { response, said } = this.running
    this.running = null
    const { itemId, conversationId } = response.request
    const { text, audio } = response.saidTokens(said)
    if (conversationId !== null) {
      this.items.push({ id: itemId, said: null, textTokens: perItem + text, audioTokens: audio })
    }
    return response.ending(said, outcome)
  }

  private answer(event: JsonObject): Events {
    switch (event['type']) {
      case 'session.update':
        this.session = changedSession(this.session, event['session'])
        return [{ type: 'session.updated', session: this.session }]
      case 'conversation.item.create':
        return this.create(event)
      case 'conversation.item.delete':
        return this.remove(event['item_id'])
      case 'input_audio_buffer.append':
        this.soundBytes += soundBytes(event['audio'] ?? '', 'audio')
        return []
      case 'input_audio_buffer.commit':
        return this.commit()
      case 'input_audio_buffer.clear':
        this.soundBytes = 0
        return [{ type: 'input_audio_buffer.cleared' }]
      case 'response.create':
        return this.respond(event['response'] ?? {})
      case 'response.cancel':
        return this.cancel(event['response_id'])
      default:
        throw invalidRequest(`The sandbox knows no event '${String(event['type'])}'`, 'type')
    }
  }

  private create({ item, previous_item_id: previous }: JsonObject): Events {
    if (!isObject(item)) throw invalidRequest("'item' must be an object", 'item')
    const at = placeAfter(this.items, previous)
    const id = this.newItemId(item['id'])
    this.items.splice(at, 0, itemOf(item, id, this.bytesPerSecond))
    return this.added(at, shownItem(item, id))
  }

  private added(at: number, item: JsonObject): Events {
    const previous = this.items[at - 1]?.id ?? null
    return [
      { type: 'conversation.item.added', previous_item_id: previous, item },
      { type: 'conversation.item.done', previous_item_id: previous, item },
    ]
  }

  private newItemId(wanted: JsonValue | undefined): string {
    if (this.items.length >= maxItems)
      throw invalidRequest(`A sandbox conversation has at most ${maxItems} items`, 'item')
    if (typeof wanted !== 'string') return this.newId('item')
    if (wanted.length > 0 && wanted.length <= 32 && !this.items.some(({ id }) => id === wanted))
      return wanted
    throw invalidRequest("'item.id' must be new, of 1 to 32 characters", 'item.id')
  }

  private remove(wanted: JsonValue | undefined): Events {
    const at = this.items.findIndex(({ id }) => id === wanted)
    if (at === -1) throw invalidRequest(`There is no item '${String(wanted)}'`, 'item_id')
    const [{ id }] = this.items.splice(at, 1) as [Item]
    return [{ type: 'conversation.item.deleted', item_id: id }]
  }

  private commit(): Events {
    const seconds = this.soundBytes / this.bytesPerSecond
    if (seconds < leastSeconds)
      throw new GatewayError(
        'invalid_request_error',
        `The buffer holds ${Math.floor(seconds * 1_000)} ms of sound; at least ${leastSeconds * 1_000} ms can be committed`,
        { shownCode: 'input_audio_buffer_commit_empty' },
      )
    const id = this.newItemId(undefined)
    this.soundBytes = 0
    const previous = this.items.at(-1)?.id ?? null
    this.items.push(soundItem(id, seconds))
    const content = [{ type: 'input_audio', transcript: null }]
    const item = { type: 'message', role: 'user', content }
    return [
      { type: 'input_audio_buffer.committed', previous_item_id: previous, item_id: id },
      ...this.added(this.items.length - 1, shownItem(item, id)),
      ...this.transcribed(id, seconds),
    ]
  }

  private transcribed(itemId: string, seconds: number): Events {
    const by = memberOf(this.session, 'audio', 'input', 'transcription', 'model')
    if (typeof by !== 'string') return []
    const place = { item_id: itemId, content_index: 0 }
    const type = 'conversation.item.input_audio_transcription'
    const usage = { type: 'duration', seconds: Math.ceil(seconds) }
    return [
      { type: `${type}.delta`, ...place, delta: listened },
      { type: `${type}.completed`, ...place, transcript: listened, usage },
    ]
  }

  private respond(given: JsonValue): Events {
    if (!isObject(given)) throw invalidRequest("'response' must be an object", 'response')
    if (this.running !== null)
      throw new GatewayError(
        'invalid_request_error',
        `The response ${this.running.response.request.responseId} is under way; cancel it or wait for its end`,
        { shownCode: 'conversation_already_has_active_response' },
      )
    const { session } = this
    const name = 'output_modalities'
    const spoken = speaks(given[name] ?? session[name], `response.${name}`)
    const most = wholeNumber(given['max_output_tokens'] ?? session['max_output_tokens'], 1)
    const read = this.inputOf(given['input'])
    const instructions = given['instructions'] ?? session['instructions']
    const always = stringOf(instructions)
    const tools = given['tools'] ?? session['tools']
    const toolText = Array.isArray(tools) && tools.length > 0 ? JSON.stringify(tools) : ''
    const response = new SandboxResponse({
      responseId: this.newId('resp'),
      itemId: this.newId('item'),
      previousItemId: this.items.at(-1)?.id ?? null,
      conversationId: given['conversation'] === 'none' ? null : `conv_sandbox_${this.id}`,
      speaks: spoken,
      said: read.findLast(({ said }) => said !== null)?.said ?? '',
      tokens: this.settings.tokens,
      maxTokens: most,
      inputTokens: {
        text: sum(read, 'textTokens') + countTokens(always) + countTokens(toolText),
        audio: sum(read, 'audioTokens'),
      },
      metadata: given['metadata'] ?? null,
      countsUsage: this.settings.fault !== 'no-usage',
    })
    this.running = { response, said: 0 }
    return response.opening()
  }

  /** The items that a response reads: the conversation, or its own, which may be references. */
  private inputOf(input: JsonValue | undefined): readonly Item[] {
    if (input === undefined || input === null) return this.items
    if (!Array.isArray(input)) throw invalidRequest("'response.input' must be a list", 'input')
    return input.filter(isObject).map((item) => {
      if (item['type'] !== 'item_reference') return itemOf(item, '', this.bytesPerSecond)
      const found = this.items.find(({ id }) => id === item['id'])
      if (found !== undefined) return found
      throw invalidRequest(`There is no item '${String(item['id'])}'`, 'response.input')
    })
  }

  private cancel(wanted: JsonValue | undefined): Events {
    const id = this.running?.response.request.responseId
    if (id !== undefined && (wanted ?? id) === id) return this.end('cancelled')
    throw new GatewayError('invalid_request_error', 'No such response is under way', {
      shownCode: 'response_cancel_not_active',
    })
  }

  private get bytesPerSecond(): number {
    return sessionFacts(this.session).inputBytesPerSecond
  }

  private newId(kind: string): string {
    this.made += 1
    return `${kind}_sandbox_${this.made}`
  }
}

function sum(items: readonly Item[], kind: 'textTokens' | 'audioTokens'): number {
  return items.reduce((tokens, item) => tokens + item[kind], 0)
}

function errorOf(error: GatewayError, eventId: JsonValue | undefined): ServerEvent {
  const { param = null, shownCode } = error.detail
  const { message } = error
  const shown = {
    type: 'invalid_request_error',
    code: shownCode ?? 'invalid_value',
    message,
    param,
  }
  return { type: 'error', error: { ...shown, event_id: eventId ?? null } }
}
