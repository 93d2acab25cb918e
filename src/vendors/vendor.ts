// Who serves: where a vendor is, how it is signed and what is odd about it; never what a format means.

import type { Fault } from '../errors.ts'
import type { VendorDialectId } from '../wire/formats.ts'
import type { JsonObject, JsonValue } from '../wire/ir.ts'
import type { ReplyQuirks } from '../wire/reply.ts'
import type { MediaAdapter } from './media.ts'
import type { LocalService } from './transport.ts'
import type { VendorVideos } from './video.ts'

/** What an operator set for one channel, resolved and frozen. */
export interface ChannelSettings {
  /** Without a trailing slash; never empty. */
  readonly baseUrl: string
  readonly key: string | null
  /** Vendor's own settings of the channel, e.g. `apiVersion` of azure-openai. */
  readonly options: Readonly<Record<string, string>>
}

export interface Call {
  readonly dialect: VendorDialectId
  /** The vendor's own name of the model. */
  readonly model: string
  readonly stream: boolean
  /** Only the tokens of the request are to be counted. */
  readonly counts?: true
}

/** A request as it goes out, for vendors whose signature covers it. */
export interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly body: Uint8Array
}

/** Whom to ask for the token that signs a channel's calls, and how. */
export interface Authority {
  readonly url: string
  /** The form to post there: made anew for each token, for it may hold the time. Rejects where the key is of no use. */
  body(nowMs: number): Promise<string>
}

export interface Amend {
  /** Runs only where one of these top-level members is present (`*`: always) ... */
  readonly keys: readonly string[]
  /** ... or one of these texts stands anywhere in the body. */
  readonly texts?: readonly string[]
  /** Returns the body to send; may change the one it was given. */
  body(body: JsonObject, call: Call): JsonObject
}

/** What of a request a model does not take as others of the same format do. */
export interface ParameterRule {
  /** Top-level members it is about: requests without any of them go out as they are. */
  readonly keys: readonly string[]
  /** Members by another name; where both stand in a request, the other one counts. */
  readonly renamed?: Readonly<Record<string, string>>
  /** Names of members to leave out; `value` gives those of the request. Absent ones and nulls do not count. */
  dropped(value: (name: string) => JsonValue | undefined): readonly string[]
}

export interface NamedCall {
  readonly dialect: VendorDialectId
  /** The vendor's own name of the model. */
  readonly model: string
  /** The client's name of it. */
  readonly asked: string
}

/** How calls to a vendor are signed. */
interface Signature {
  /** Headers that sign a call, lower-case names; called once per channel, not per request. */
  headers(settings: ChannelSettings): readonly (readonly [name: string, value: string])[]
  /** Further headers that sign one request, its body and time included; lower-case names, none where the key signs alone. */
  sign?(
    request: SignedRequest,
    settings: ChannelSettings,
    nowMs: number,
  ): readonly (readonly [name: string, value: string])[]
  /**
   * For keys that are only good for a token: whom to ask for one. It is kept, renewed before it runs out, and sent as
   * `authorization: Bearer`; null where the key signs by itself. Throws where the key is a broken one.
   */
  authorize?(settings: ChannelSettings): Authority | null
  /** A bearer token made of the key for each call of an adapter, where the key itself is not sent. */
  token?(settings: ChannelSettings, nowMs: number): string | null
}

/** What is odd about a vendor, in requests and in replies. */
export interface VendorQuirks extends ReplyQuirks {
  /** `ask`: usage on streams comes only with stream_options; `always`: unasked, and stream_options may be refused. */
  readonly usageOnStream: 'ask' | 'always'
  /** What of a request must be put differently for this vendor; `needsAmend` says when. */
  readonly amend?: Amend
  /** Parameters that a model refuses; null: it takes all of its format. Called per request: to be cheap. */
  parameters?(call: NamedCall): ParameterRule | null
  /** Answers 400 where a message holds what the model thought, but for the vendor's own opaque state. */
  readonly refusesThoughts?: true
  /** Accepts `include` of encrypted reasoning in a Responses request: what it does not keep itself can be given back. */
  readonly encryptsReasoning?: true
  /** Takes every type of tool that the formats it speaks have: namespaces, input that is text, tools the client runs. */
  readonly everyTool?: true
  /** Sharpens what the dialect made of this vendor's error reply. */
  refine?(fault: Fault, status: number, body: string): Fault
  /** A model's name without the settings that may follow it; null where it has none. */
  withoutSettings?(name: string): string | null
}

export interface Vendor {
  /** The value of `vendor` in the configuration. */
  readonly id: string
  /** As `owned_by` shows it: lower case. */
  readonly ownedBy: string
  /** All that stands before the vendor's own path; null where only the operator knows it. */
  readonly baseUrl: string | null
  /** Environment variable that makes a channel of itself at start, e.g. `OPENAI_API_KEY`. */
  readonly environment?: string
  /** Environment variable with the base address, needed beside the key where `baseUrl` is null. */
  readonly environmentBaseUrl?: string
  /** Further key variables, each with the base address its keys belong to. */
  readonly environmentElsewhere?: Readonly<Record<string, string>>
  /** Works without a key (local servers). */
  readonly keyless?: boolean
  /** Dialects spoken, best first. */
  readonly speaks: readonly VendorDialectId[]
  /** Whole address of one call. */
  address(call: Call, settings: ChannelSettings): string
  /** Counts the tokens of a request without answering it: at the address of a call with `counts`. */
  readonly countsTokens?: boolean
  readonly signature: Signature
  readonly quirks: VendorQuirks
  /** By OpenAI's operation: how this vendor is asked it in its own way. Each such dialect stands in `speaks` too. */
  readonly adapters?: Readonly<Partial<Record<VendorDialectId, MediaAdapter>>>
  /** How its jobs are followed; each has `adapters['openai-videos']` by `videoStarts` too. */
  readonly videos?: VendorVideos
  /** Served inside this process, without a connection. */
  readonly local?: LocalService
}
