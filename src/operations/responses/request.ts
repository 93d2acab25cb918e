// Prepares a Responses request: puts the stored conversation before it, and stores its reply.

import { Buffer } from 'node:buffer'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { ResponseTransform } from '../../relay/request.ts'
import type { Candidate } from '../../router/route.ts'
import type { FoundResponse, ResponseRow } from '../../store/responses.ts'
import type { Vendor } from '../../vendors/vendor.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { OpaqueOrigin } from '../../wire/hub/opaque-state.ts'
import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { objectOf } from '../../wire/json/value.ts'
import { encryptsReasoning } from '../../wire/openai-responses/include.ts'
import {
  inputItems,
  type Keeping,
  keepingIn,
  outputItems,
  outputWithOrigin,
  referencedItems,
  replayed,
  tooLarge,
  vendorEdits,
  withHistory,
  withReferences,
} from '../../wire/openai-responses/kept.ts'
import { idAtStart, type Shown, showFrames, showWhole } from '../../wire/openai-responses/shown.ts'
import { isBroken, isWhole } from '../../wire/openai-responses/so-far.ts'
import type { Peek } from '../../wire/request.ts'
import { maxKeptBytes, type ResponseKeeper } from './keeper.ts'

export interface ResponseRooms {
  readonly keeper: ResponseKeeper
  /** Days for which responses are stored; 0: none are. */
  readonly keepDays: number
  /** The largest request, stored conversation included. */
  readonly maxBodyBytes: number
  /** How long a followed stream may be silent before a heartbeat. */
  readonly heartbeatMs: number
  readonly dialect: ClientDialect
  vendorOf(channelId: string): Vendor | undefined
}

export interface Asking {
  readonly account: string
  readonly requestId: string
  readonly at: number
  /** The client's dialect. */
  readonly dialect: ClientDialect
  readonly peek: Peek
  readonly candidates: readonly Candidate[]
}

/** The request as it is handed to the relay. */
export interface Prepared {
  readonly peek: Peek
  /** The body is not the client's own any more. */
  readonly rebuilt: boolean
  readonly transform: ResponseTransform | null
  /** Set where the response is made in the background, so that the client does not wait for it. */
  readonly background: Queued | null
}

/** A response that is still to be made. */
export interface Queued {
  readonly row: ResponseRow
  /** The response shown before it ends. */
  readonly response: JsonObject
  /** Who made it, for its opaque state; null while that is unknown. */
  readonly origin: () => OpaqueOrigin | null
}

const dayMs = 86_400_000
/** Different items that the input of one request may refer to, without those of the conversation it continues. */
const mostReferences = 10_000

/**
 * Reads the request's settings on storing, and puts the stored conversation before its own input. Throws GatewayError;
 * code `previous_response_not_found` where nothing is stored.
 */
export async function prepareResponse(rooms: ResponseRooms, asking: Asking): Promise<Prepared> {
  const { peek } = asking
  const keeping = keepingIn(peek)
  checkKeeping(rooms, keeping)
  const { previousResponseId } = keeping
  const chain =
    previousResponseId === null ? [] : await chainOf(rooms, asking.account, previousResponseId)
  const before = chain.flatMap(itemsOf)
  const refers = refersToItems(peek)
  const rebuilt = previousResponseId !== null || refers
  const own = rebuilt ? await ownInput(rooms, asking, before) : null
  const asked = rebuilt ? rebuiltPeek(rooms, peek, before, own ?? []) : peek
  const keeps = keeping.store && rooms.keepDays > 0
  const edited = keeping.store || keeping.background || rebuilt
  const prepared = edited
    ? { ...asked, vendorEdits: vendorEdits(asked, wantsEncrypted(rooms, asking.candidates)) }
    : asked
  const replyKeeper = new ReplyKeeper(rooms, asking, {
    keeping,
    own,
    keeps,
    before: new Set(chain.map(({ id }) => id)),
  })
  return {
    peek: prepared,
    rebuilt,
    transform: edited ? replyKeeper.transform : null,
    background: keeping.background ? replyKeeper.queued() : null,
  }
}

/** Whether items of its input are only references to stored ones. */
export function refersToItems({ body }: Peek): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"item_reference"')
}

/** Throws GatewayError for what cannot be stored, or is not stored here. */
export function checkKeeping({ keepDays }: ResponseRooms, keeping: Keeping): void {
  if (keeping.conversation !== null) {
    throw invalidRequest(
      'conversation: conversations are not offered by this gateway; use previous_response_id.',
      'conversation',
    )
  }
  if (keeping.background && (!keeping.store || keepDays === 0)) {
    throw invalidRequest(
      'background: only a stored response can be made in the background; set store to true.',
      'background',
    )
  }
}

/** OpenAI's error for a missing response. */
function notFound(message: string): GatewayError {
  return new GatewayError('invalid_request_error', message, {
    param: 'previous_response_id',
    shownCode: 'previous_response_not_found',
  })
}

/** The items of the response and of those before it, the oldest first. Throws GatewayError. */
export async function historyOf(
  rooms: ResponseRooms,
  account: string,
  id: string,
): Promise<JsonObject[]> {
  return (await chainOf(rooms, account, id)).flatMap(itemsOf)
}

/** The response and those before it, the oldest first. Throws GatewayError. */
async function chainOf(
  { keeper, maxBodyBytes }: ResponseRooms,
  account: string,
  id: string,
): Promise<readonly FoundResponse[]> {
  const nowMs = Date.now()
  const chain = await keeper.read(account, async () => {
    const found = await keeper.table.chain(account, id, nowMs, maxBodyBytes)
    return found.length === 0 ? null : found
  })
  if (chain === null) throw notFound(`Previous response with id '${id}' not found.`)
  const previousId = chain[0]?.previousId ?? null
  if (previousId !== null) {
    const older = await keeper.table.find(account, previousId, nowMs)
    if (older === null) {
      throw notFound(`Response '${previousId}', which '${id}' continues, was not found.`)
    }
    throw new GatewayError(
      'request_too_large',
      `The conversation up to '${id}' is larger than ${maxBodyBytes} bytes.`,
      { param: 'previous_response_id' },
    )
  }
  return chain
}

function itemsOf(found: FoundResponse): JsonObject[] {
  const { id, input, body } = found
  if (found.running && !found.abandoned) {
    throw invalidRequest(`Response '${id}' is still being made.`, 'previous_response_id')
  }
  if (input === null || body === null) {
    throw notFound(`Response '${id}' is larger than ${maxKeptBytes} bytes and was not kept.`)
  }
  const response = JSON.parse(body) as JsonObject
  const output = outputItems(response)
  // A tool call that was cut off cannot be answered.
  const whole = isBroken(response) ? output.filter(isWhole) : output
  return [...(JSON.parse(input) as JsonObject[]), ...whole]
}

/** The request's own items, with references replaced by the stored items. Throws GatewayError. */
export async function ownInput(
  { keeper, maxBodyBytes }: ResponseRooms,
  { account, peek }: Asking,
  before: readonly JsonObject[],
): Promise<JsonObject[]> {
  const items = withReferences(inputItems(parsedObject(peek.body)), before, maxBodyBytes)
  const missing = new Set(referencedItems(items))
  if (missing.size === 0) return items
  if (missing.size > mostReferences) {
    throw invalidRequest(`input refers to more than ${mostReferences} stored items`, 'input')
  }
  const known: JsonObject[] = []
  let readBytes = 0
  await keeper.read(account, async () => {
    for await (const body of keeper.table.withItems(account, [...missing], Date.now())) {
      readBytes += body.length
      if (readBytes > maxBodyBytes) throw tooLarge(maxBodyBytes)
      const output = outputItems(JSON.parse(body) as JsonObject)
      known.push(...output.filter(({ id }) => typeof id === 'string' && missing.delete(id)))
    }
    return missing.size === 0 ? known : null
  })
  return withReferences(items, known, maxBodyBytes)
}

/** Throws GatewayError where it is longer than a request may be. */
export function bytesOf(body: JsonObject, maxBodyBytes: number): Buffer {
  const text = JSON.stringify(body)
  if (text.length > maxBodyBytes) throw tooLarge(maxBodyBytes)
  return Buffer.from(text, 'utf8')
}

function rebuiltPeek(
  { dialect, maxBodyBytes }: ResponseRooms,
  peek: Peek,
  before: readonly JsonObject[],
  own: readonly JsonObject[],
): Peek {
  const body = parsedObject(peek.body)
  const asked = { ...body, input: own.map(replayed) }
  const items = withHistory(asked, before.map(replayed), maxBodyBytes)
  const { previous_response_id: previous } = body
  const sent = previous === undefined ? items : { ...items, previous_response_id: previous }
  return {
    ...dialect.client.peek(bytesOf(sent, maxBodyBytes)),
    dropped: peek.dropped ?? [],
  }
}

/** Whether every channel on the identity path accepts a request for encrypted reasoning. */
function wantsEncrypted({ vendorOf }: ResponseRooms, candidates: readonly Candidate[]): boolean {
  const alike = candidates.filter(({ identity }) => identity)
  return alike.every(
    ({ channelId, model }) =>
      vendorOf(channelId)?.quirks.encryptsReasoning === true && encryptsReasoning(model),
  )
}

interface Storing {
  readonly keeping: Keeping
  /** Its own input items; null: the body has them unchanged. */
  readonly own: readonly JsonObject[] | null
  readonly keeps: boolean
  /** Ids of the responses that this one continues. */
  readonly before: ReadonlySet<string>
}

/** Stores one reply in the form that the client gets. */
class ReplyKeeper {
  private readonly rooms: ResponseRooms
  private readonly asking: Asking
  private readonly keeping: Keeping
  private readonly own: Storing['own']
  private readonly keeps: boolean
  private readonly before: Storing['before']
  private readonly correction: JsonObject
  private kept = false
  private origin: OpaqueOrigin | null = null

  constructor(rooms: ResponseRooms, asking: Asking, { keeping, own, keeps, before }: Storing) {
    this.rooms = rooms
    this.asking = asking
    this.keeping = keeping
    this.own = own
    this.keeps = keeps
    this.before = before
    const { background, previousResponseId } = keeping
    this.correction = {
      store: this.keeps,
      previous_response_id: previousResponseId,
      background,
      ...(background && { id: this.ownId }),
    }
  }

  readonly transform: ResponseTransform = (bytes, kind, origin) => {
    const { stream } = this.asking.peek
    this.origin = origin
    if (!stream && kind === 'piece') {
      this.outgrew(bytes)
      return bytes
    }
    const shown: Shown = stream
      ? showFrames(bytes, this.corrections, includes)
      : showWhole(bytes, this.corrections)
    if (shown.response !== null) this.keep(shown.response, origin)
    return shown.bytes
  }

  /** An id that the vendor gave before would make the conversation continue itself. */
  private readonly corrections = ({ id }: JsonObject): JsonObject =>
    typeof id === 'string' && this.before.has(id)
      ? { ...this.correction, id: this.ownId }
      : this.correction

  queued(): Queued {
    const { peek, at } = this.asking
    const response = {
      id: this.ownId,
      object: 'response',
      created_at: Math.floor(at / 1000),
      status: 'in_progress',
      error: null,
      incomplete_details: null,
      model: peek.model,
      output: [],
      usage: null,
      ...sent(parsedObject(peek.body)),
      ...this.correction,
    }
    const row = this.row(this.ownId, JSON.stringify(response), [], true)
    return { row, response, origin: () => this.origin }
  }

  private get ownId(): string {
    return `resp_${this.asking.requestId.slice('req_'.length)}`
  }

  private keep(response: JsonObject, origin: OpaqueOrigin | null): void {
    const { id } = response
    if (!this.keeps || this.keeping.background || this.kept || typeof id !== 'string') return
    this.kept = true
    this.rooms.keeper.later(this.asking.account, () => {
      const { body, items } = keptBody(response, origin)
      return { kind: 'keep', row: this.row(id, body, items, false) }
    })
  }

  /** A whole reply that arrives in pieces is larger than any that is stored: only its existence is. */
  private outgrew(bytes: Uint8Array): void {
    if (!this.keeps || this.keeping.background || this.kept) return
    this.kept = true
    const id = idAtStart(bytes)
    if (id === null || this.before.has(id)) return
    this.rooms.keeper.later(this.asking.account, () => ({
      kind: 'keep',
      row: this.row(id, null, [], false),
    }))
  }

  private row(
    id: string,
    body: string | null,
    items: readonly string[],
    running: boolean,
  ): ResponseRow {
    const { account, at, peek } = this.asking
    const input = JSON.stringify(this.own ?? inputItems(parsedObject(peek.body)))
    const fits = body !== null && input.length + body.length <= maxKeptBytes
    return {
      account,
      id,
      previousId: this.keeping.previousResponseId,
      running,
      input: fits ? input : null,
      body: fits || running ? body : null,
      items,
      createdAt: at,
      expiresAt: at + this.rooms.keepDays * dayMs,
    }
  }
}

/** A response in its stored form, and the ids of its output items; without a body where it is too large. */
export function keptBody(
  response: JsonObject,
  origin: OpaqueOrigin | null,
): { readonly body: string | null; readonly items: readonly string[] } {
  const body = JSON.stringify(outputWithOrigin(response, origin))
  const ids = outputItems(response).flatMap(({ id }) => (typeof id === 'string' ? [id] : []))
  return body.length > maxKeptBytes ? { body: null, items: [] } : { body, items: ids }
}

/** Fields of the request that a response repeats before it has begun. */
function sent(body: JsonObject): JsonObject {
  const { instructions = null, metadata, tools = [], tool_choice: choice = 'auto' } = body
  const { temperature = 1, top_p: topP = 1, parallel_tool_calls: parallel = true } = body
  const { max_output_tokens: most = null, text, reasoning } = body
  const plain: JsonObject = {
    instructions,
    metadata: objectOf(metadata),
    tools,
    tool_choice: choice,
    temperature,
    top_p: topP,
    parallel_tool_calls: parallel,
    max_output_tokens: most,
    text: (text ?? { format: { type: 'text' } }) as JsonValue,
    reasoning: (reasoning ?? { effort: null, summary: null }) as JsonValue,
  }
  return plain
}

function includes(bytes: Uint8Array, text: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(text)
}
