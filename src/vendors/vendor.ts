// The interface of a vendor: its address, its signature and its quirks; never the meaning of a format.

import type { Fault } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import type { CacheMark, JsonObject, JsonValue } from '../wire/ir.ts'
import type { ReplyQuirks } from '../wire/reply.ts'
import type { SentBack } from '../wire/request.ts'
import type { MediaAdapter } from './media.ts'
import type { LocalService } from './transport.ts'
import type { VendorVideos } from './video.ts'

/** What an operator set for one channel, resolved and frozen. */
export interface ChannelSettings {
  /** Without a trailing slash; never empty. */
  readonly baseUrl: string
  readonly key: string | null
  /** Vendor-specific settings of the channel, e.g. `apiVersion` of azure-openai. */
  readonly options: Readonly<Record<string, string>>
}

export interface Call {
  readonly dialect: VendorDialectId
  /** The vendor's own name of the model. */
  readonly model: string
  readonly stream: boolean
  /** The call only counts the tokens of a request. */
  readonly counts?: true
  /** See `Peek.sentBack`. */
  readonly sentBack?: SentBack | undefined
  /** Of the channel. */
  readonly baseUrl?: string
}

/** A request as it is sent, for vendors whose signature covers it. */
export interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly body: Uint8Array
}

/** The token server of a channel. */
export interface Authority {
  readonly url: string
  /** The form to post there: made for each token, since it may contain the time. Rejects where the key is unusable. */
  body(nowMs: number): Promise<string>
}

export interface Amend {
  /** Runs only if one of these top-level members is present (`*`: always) ... */
  readonly keys: readonly string[]
  /** ... or if one of these texts occurs anywhere in the body. */
  readonly texts?: readonly string[]
  /** ... or if the call is of this kind. */
  wants?(call: Call): boolean
  /** Returns the body to send; may change the given one in place. Throws GatewayError where it may not be sent. */
  body(body: JsonObject, call: Call, options?: ChannelSettings['options']): JsonObject
}

/** Returns a member of a request; undefined where it is absent or null. */
export type Value = (name: string) => JsonValue | undefined

/** What is sent in place of a member whose value the model refuses. */
export interface Replacement {
  /** Null: the member is left out. */
  readonly value: JsonValue
  /** What the client is told of, by the hub's name. */
  readonly name: string
}

/** Parameters that a model refuses although its format has them. */
export interface ParameterRule {
  /** The top-level members concerned: requests without any of them are left unchanged. */
  readonly keys: readonly string[]
  /** Members that have another name here; where a request has both, the value under the new name wins. */
  readonly renamed?: Readonly<Record<string, string>>
  /** An entry of the member `list` that asks for what the member `about` is about: it is removed together with it. */
  readonly entry?: { readonly list: string; readonly entry: string; readonly about: string }
  /** Names of the members to remove. Absent and null members are ignored. */
  dropped(value: Value): readonly string[]
  /** Members to replace, by their names; none of them is among the removed or renamed. */
  replaced?(value: Value): ReadonlyMap<string, Replacement>
}

export interface NamedCall {
  readonly dialect: VendorDialectId
  /** The vendor's own name of the model. */
  readonly model: string
  /** The client's name of it. */
  readonly asked: string
}

/** A model that a channel serves. */
export interface ServedModel extends Pick<NamedCall, 'model' | 'asked'> {
  readonly baseUrl: string | null
  readonly options: ChannelSettings['options']
}

/** How calls to a vendor are signed. */
interface Signature {
  /** Headers that sign a call; names in lower case. Called once per channel, not per request. */
  headers(settings: ChannelSettings): readonly (readonly [name: string, value: string])[]
  /**
   * More headers, which sign one request with its body and time; names in lower case; empty where the key alone signs.
   */
  sign?(
    request: SignedRequest,
    settings: ChannelSettings,
    nowMs: number,
  ): readonly (readonly [name: string, value: string])[]
  /**
   * For keys that only obtain a token: the server to ask for one. The token is kept, renewed before it expires, and
   * sent as `authorization: Bearer`; null where the key signs by itself. Throws where the key is malformed.
   */
  authorize?(settings: ChannelSettings): Authority | null
  /** A bearer token made from the key for each call of an adapter, where the key itself is not sent. */
  token?(settings: ChannelSettings, nowMs: number): string | null
}

/** How a vendor differs from others of its format, in requests and in replies. */
export interface VendorQuirks extends ReplyQuirks {
  /** `ask`: streams report usage only with `stream_options`; `always`: unasked, and `stream_options` may be refused. */
  readonly usageOnStream: 'ask' | 'always'
  /** Changes to requests for this vendor; `needsAmend` says when they apply. */
  readonly amend?: Amend
  /** The parameters that a model refuses; null: none. Called for each request, so it must be cheap. */
  parameters?(call: NamedCall): ParameterRule | null
  /** Answers 400 where a message contains reasoning, except the vendor's own opaque state. */
  readonly refusesThoughts?: true
  /** Members that the model refuses if they are empty texts; the encoder leaves out what they belong to. */
  refusesEmpty?(model: string): readonly string[]
  /**
   * Accepts `include` of encrypted reasoning in a Responses request, so that reasoning it does not store can return.
   */
  readonly encryptsReasoning?: true
  /** How long a model keeps a prompt by the marks of Anthropic's format in a chat; null: it reads none. */
  cacheMarks?(model: string): CacheMark['ttl'] | null
  /** Supports every type of tool in its formats: namespaces, text input, tools that the client runs. */
  readonly everyTool?: true
  /**
   * Whether a request in a dialect that the vendor speaks is translated to the one that `speaksFor` names before it.
   * Called for each such request, so it must be cheap where none of the members concerned is among `keys`.
   */
  asksInFirst?(call: NamedCall, keys: readonly string[], value: Value): boolean
  /** Refines the fault that the dialect read from this vendor's error reply. */
  refine?(fault: Fault, status: number, body: string): Fault
  /** A model's name without the settings that may follow it; null where it has none. */
  withoutSettings?(name: string): string | null
}

export interface Vendor {
  /** The value of `vendor` in the configuration. */
  readonly id: string
  /** The value shown as `owned_by`; lower case. */
  readonly ownedBy: string
  /** The part of every URL before the vendor's own paths; null where only the operator knows it. */
  readonly baseUrl: string | null
  /** The last segment of the base address, added where an operator's address ends in no version. */
  readonly version?: string
  /** The environment variable with a key that creates a channel at start, e.g. `OPENAI_API_KEY`. */
  readonly environment?: string
  /** The environment variable with the base address, required with the key where `baseUrl` is null. */
  readonly environmentBaseUrl?: string
  /** Further variables with keys, each with the base address for them. */
  readonly environmentElsewhere?: Readonly<Record<string, string>>
  /** Works without a key (local servers). */
  readonly keyless?: boolean
  /** Its dialects, best first. */
  readonly speaks: readonly VendorDialectId[]
  /** The same for one model at one channel, where that differs; null: it does not. */
  speaksFor?(served: ServedModel): readonly VendorDialectId[] | null
  /** The whole URL of one call. */
  address(call: Call, settings: ChannelSettings): string
  /** Whether it counts a request's tokens without answering it, at the address of a call with `counts`. */
  readonly countsTokens?: boolean
  readonly signature: Signature
  readonly quirks: VendorQuirks
  /** Adapters by OpenAI's operation, for operations asked in the vendor's own way. Each dialect is in `speaks` too. */
  readonly adapters?: Readonly<Partial<Record<VendorDialectId, MediaAdapter>>>
  /** How its video jobs are polled; `adapters['openai-videos']` starts them, through `videoStarts`. */
  readonly videos?: VendorVideos
  /** Served inside this process, without a connection. */
  readonly local?: LocalService
}
