// Tests one channel with one small call, for an operator.

import { Buffer } from 'node:buffer'
import { createCatalog } from '../catalog/catalog.ts'
import { isPattern } from '../config/beginnings.ts'
import { lanesOf } from '../config/channel-keys.ts'
import type { ChannelConfig, Config } from '../config/types.ts'
import type { Fault } from '../errors.ts'
import { type Channel, createChannel } from '../relay/channel.ts'
import { openAuthorized } from '../relay/tokens.ts'
import { Names, ownNameOf } from '../router/reach.ts'
import { scrub } from '../telemetry/scrub.ts'
import { createDialer, type Dialer } from '../upstream/dial.ts'
import { vendors } from '../vendors/registry.ts'
import type { ReplyHandler } from '../vendors/transport.ts'
import type { Vendor } from '../vendors/vendor.ts'
import { dialects } from '../wire/dialects.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonValue } from '../wire/ir.ts'
import { join } from '../wire/json/splice.ts'
import { isFault } from '../wire/list/fields.ts'
import type { ListRequest } from '../wire/list/list.ts'
import { ExchangeNotes, type RawExchange } from './raw-exchange.ts'

export interface Probe {
  readonly ok: boolean
  /** The vendor's name of the model that was asked; null where the channel names none. */
  readonly model: string | null
  readonly durationMs: number
  /** The vendor's answer or the fault, without secrets. */
  readonly message: string
  /** null where no request was sent. */
  readonly exchange: RawExchange | null
}

interface Question {
  readonly dialect: VendorDialectId
  readonly model: string
  readonly body: Uint8Array
  /** What is asked of a model for embeddings or reranking. */
  readonly list?: ListRequest
}

type Catalog = ReturnType<typeof createCatalog>

const answerMs = 60_000

/** Asks a model for one word: `asked`, by its public name, or the first model that the channel names. */
export async function probeChannel(
  found: ChannelConfig,
  models: Config['models'],
  asked?: string | undefined,
): Promise<Probe> {
  const vendor = vendors[found.vendor]
  if (vendor === undefined) throw new Error(`there is no vendor ${found.vendor}`)
  const [lane] = lanesOf(found)
  const channel = createChannel({ ...found, key: lane?.key ?? null }, vendor)
  const catalog = createCatalog(models)
  const kindOf = kindsAt(vendor, catalog)
  const model = asked === undefined ? firstModel(found, catalog, kindOf) : ownName(found, asked)
  if (model.name === null) {
    return { ok: false, model: null, durationMs: 0, message: model.problem, exchange: null }
  }
  const startedMs = performance.now()
  const dialer = createDialer()
  const question = questionFor(spokenBy(found, vendor, model), model.name, kindOf(model))
  const { fault, exchange } = await ask(dialer, channel, question)
  dialer.close()
  const durationMs = Math.round(performance.now() - startedMs)
  const message = fault === null ? `${model.name} answered` : scrub(fault.message, channel.secrets)
  return { ok: fault === null, model: model.name, durationMs, message, exchange }
}

/** A model by its public name, and as the vendor calls it. */
interface NamedModel {
  readonly publicName: string
  readonly name: string
}

type Named = NamedModel | { readonly name: null; readonly problem: string }

function firstModel(
  { vendor, models }: ChannelConfig,
  catalog: Catalog,
  kindOf: (model: NamedModel) => string,
): Named {
  const names =
    models === null
      ? catalog.ofVendor(vendor).map(({ id }) => [id, id] as const)
      : Object.entries(models)
  const named = names
    .filter(([, name]) => !isPattern(name))
    .map(([publicName, name]) => ({ publicName, name }))
  const found = named.find((each) => wordy.has(kindOf(each)))
  if (found !== undefined) return found
  const problem =
    named.length === 0
      ? 'the channel names no model to try'
      : 'the channel names only models of images, sound or video, which are not tried'
  return { name: null, problem }
}

/** The vendor's own name of a model. */
function ownName({ models }: ChannelConfig, asked: string): Named {
  if (models === null) return { publicName: asked, name: asked }
  const name = ownNameOf(new Names(Object.entries(models)), asked)
  if (name === null) return { name, problem: `the channel does not serve ${asked}` }
  return { publicName: asked, name }
}

/** Kinds that are cheap to test with one word, unlike images or videos. */
const wordy: ReadonlySet<string> = new Set(['chat', 'completion', 'embedding', 'rerank'])

/** The kind of a model: as declared or shipped, else by its name, or the first that the vendor serves. */
function kindsAt({ speaks }: Vendor, catalog: Catalog): (model: NamedModel) => string {
  const served: readonly string[] = speaks.map((each) => dialects[each].operation)
  return ({ publicName, name }) => {
    const known = catalog.find(publicName) ?? catalog.find(name)
    if (known !== null) return known.kind
    const { kind } = catalog.assume(publicName, '')
    return served.includes(kind) ? kind : (served.find((each) => wordy.has(each)) ?? kind)
  }
}

/** The formats in which the channel is called. */
function spokenBy(
  { dialect, baseUrl, options }: ChannelConfig,
  vendor: Vendor,
  { name, publicName }: NamedModel,
): readonly VendorDialectId[] {
  if (dialect != null) return vendor.speaks.filter((each) => each === dialect)
  const served = { model: name, asked: publicName, baseUrl, options }
  return vendor.speaksFor?.(served) ?? vendor.speaks
}

function questionFor(speaks: readonly VendorDialectId[], model: string, kind: string): Question {
  const put = (dialect: VendorDialectId, rest: object): Question => ({
    dialect,
    model,
    // Where the model is in the path, it must not be in the body.
    body: Buffer.from(JSON.stringify(dialect === 'gemini' ? rest : { model, ...rest }), 'utf8'),
  })
  const list = listQuestion(speaks, model, kind)
  if (list !== null) return list
  if (kind === 'completion') return put('openai-completions', { prompt: 'Say ok.', max_tokens: 8 })
  const messages = [{ role: 'user', content: 'Answer with the one word: ok' }]
  const [spoken] = speaks.filter((each) => dialects[each].operation === 'chat')
  const target = spoken === undefined ? undefined : dialects[spoken].vendor.hub
  if (speaks.includes('openai-chat') || spoken === undefined || target === undefined) {
    return put('openai-chat', { messages })
  }
  const asked = dialects['openai-chat'].client.hub.decodeRequest({ model, messages }).value
  const body = JSON.stringify(target.encodeRequest(asked, model).value)
  return { dialect: spoken, model, body: Buffer.from(body, 'utf8') }
}

function listQuestion(
  speaks: readonly VendorDialectId[],
  model: string,
  kind: string,
): Question | null {
  if (kind !== 'embedding' && kind !== 'rerank') return null
  const dialect = speaks.find((each) => dialects[each].operation === kind)
  if (dialect === undefined) return null
  const list = { model, texts: ['ok'], ...(kind === 'rerank' && { query: 'ok' }) }
  const encoded = dialects[dialect].vendor.list?.encodeRequest(list, model)
  if (encoded === undefined) return null
  return { dialect, model, body: Buffer.from(JSON.stringify(encoded.value), 'utf8'), list }
}

interface Tried {
  /** null where the reply is good. */
  readonly fault: Fault | null
  readonly exchange: RawExchange
}

function ask(dialer: Dialer, channel: Channel, question: Question): Promise<Tried> {
  const { dialect, model } = question
  const { changes } = channel
  const body = changes === undefined ? question.body : join(changes(question.body))
  const { local } = channel.vendor
  const call = { dialect, model, stream: false }
  const destination =
    local === undefined
      ? (channel.signed?.(call, body, Date.now()) ?? channel.destination(call))
      : null
  const notes = new ExchangeNotes(destination, body, channel.secrets)
  return new Promise((resolve) => {
    const done = (fault: Fault | null) => resolve({ fault, exchange: notes.result() })
    const timer = setTimeout(
      () => done({ kind: 'timeout', message: 'the vendor did not answer in time' }),
      answerMs,
    )
    const handler = collector(channel, question, notes, (fault) => {
      clearTimeout(timer)
      done(fault)
    })
    if (local !== undefined) local.open({ dialect, model, body }, handler)
    else if (destination !== null) {
      const dialled = { destination, segments: [body], connectMs: 5_000, sendIdleMs: 30_000 }
      if (channel.tokens === undefined) dialer.open(dialled, handler)
      else openAuthorized(dialer, dialled, handler, channel.tokens)
    }
  })
}

function collector(
  channel: Channel,
  question: Question,
  notes: ExchangeNotes,
  tell: (fault: Fault | null) => void,
): ReplyHandler {
  const dialect = dialects[question.dialect]
  const { vendor } = channel
  const chunks: Uint8Array[] = []
  let status = 0
  let header: (name: string) => string | null = () => null
  return {
    head(replyStatus, replyHeader) {
      status = replyStatus
      header = replyHeader
      notes.head(replyStatus, replyHeader)
    },
    bytes(chunk) {
      chunks.push(chunk)
      notes.bytes(chunk)
    },
    end() {
      const reply = join(chunks)
      const text = Buffer.from(reply).toString('utf8')
      if (status >= 200 && status < 300) tell(faultIn(text, question, vendor))
      else {
        const fault = dialect.vendor.fault(status, header, text)
        tell(vendor.quirks.refine?.(fault, status, text) ?? fault)
      }
    },
    fault: ({ kind, message }) => tell({ kind, message }),
  }
}

/** null where the reply is a good one in the vendor's format. */
function faultIn(
  text: string,
  { dialect: id, body, list }: Question,
  { quirks }: Vendor,
): Fault | null {
  if (id === 'openai-embeddings' || id === 'openai-completions') {
    const { client, identity } = dialects[id]
    return identity.whole(Buffer.from(text, 'utf8'), client.peek(body), quirks).fault
  }
  let value: JsonValue
  try {
    value = JSON.parse(text) as JsonValue
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'unreadable', message: 'the reply is not JSON' }
  }
  if (list !== undefined) {
    const reply = dialects[id].vendor.list?.readReply(value, list)
    return reply !== undefined && isFault(reply) ? reply : null
  }
  const events = dialects[id].vendor.hub?.readWhole(value, quirks) ?? []
  const [fault] = events.flatMap((event) => (event.type === 'fault' ? [event.fault] : []))
  return fault ?? null
}
