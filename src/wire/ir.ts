// The hub: chat requests and replies independent of any format; every dialect decodes into it and encodes from it.

import type { CallCounts, TokenCounts } from '../config/prices.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

/** Fields that only one dialect knows; they are sent back only in that dialect. */
export type Extra = Readonly<Record<string, JsonObject>>

/**
 * A tool, call or answer in one dialect's own form (in a namespace, or of a type that the client runs), which other
 * dialects see as a function's. Only vendors that accept every tool type of that dialect are sent this form.
 */
type Native = Extra

/**
 * Token counts by kind. The kinds are disjoint: no token is counted in two of them, so that a price is a plain sum.
 * `input` excludes cached and cache-written tokens, `output` excludes reasoning. Call counts are not tokens.
 */
export interface Usage
  extends Pick<TokenCounts, UsualKind>,
    Partial<Omit<TokenCounts, UsualKind>>,
    Partial<CallCounts> {}

/** Kinds that every reader counts; the others are rare. `cacheWrite` is what is written to a cache for five minutes. */
type UsualKind = 'input' | 'cachedInput' | 'cacheWrite' | 'output' | 'reasoning'

/** A choice that the vendor's own failure cuts off has no finish reason: that is a `fault` event. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

/** Marks the end of the prompt prefix that the vendor may cache for later requests, for five minutes or an hour. */
export interface CacheMark {
  readonly ttl: '5m' | '1h'
}

/** What every part of a request may carry. */
interface PartBase {
  readonly cache?: CacheMark
  readonly extra?: Extra
}

/** Text a person or a model wrote. `sealed` is the vendor's opaque state, which must go back to it on this part. */
interface TextPart extends PartBase {
  readonly type: 'text'
  readonly text: string
  readonly sealed?: string
}

export interface ImagePart extends PartBase {
  readonly type: 'image'
  /** An `https:` or `data:` URL; empty where `vendorFile` names a file stored with the vendor. */
  readonly url: string
  readonly vendorFile?: string
  readonly detail?: string
}

export interface FilePart extends PartBase {
  readonly type: 'file'
  /** An `https:` or `data:` URL (its media type says what the file is); empty where `vendorFile` is set. */
  readonly url: string
  /** The id of a file stored with the vendor. */
  readonly vendorFile?: string
  readonly name?: string
}

interface AudioPart extends PartBase {
  readonly type: 'audio'
  /** `wav`, `mp3`, ... */
  readonly format: string
  /** Base64. */
  readonly data: string
}

/**
 * A model's earlier reasoning, sent back to it. `sealed` is the signature or the encrypted text as the client
 * received it (see hub/opaque-state.ts); `redacted` parts have no text, only that.
 */
export interface ReasoningPart extends PartBase {
  readonly type: 'reasoning'
  readonly text: string
  readonly sealed?: string
  readonly redacted?: true
}

export interface ToolCallPart extends PartBase {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** JSON text, or any text where the tool is `custom`. May be empty, which means `{}`. */
  readonly arguments: string
  readonly custom?: true
  readonly sealed?: string
  readonly native?: Native
}

/** A part that only one dialect knows: `extra` holds it under that dialect's name. */
interface OtherPart extends PartBase {
  readonly type: 'other'
  readonly extra: Extra
}

export type RequestPart =
  | TextPart
  | ImagePart
  | FilePart
  | AudioPart
  | ReasoningPart
  | ToolCallPart
  | OtherPart

/**
 * One turn, or a piece of one: consecutive messages of a role stay as the client sent them, and a dialect whose turns
 * must alternate joins them. A message of role `tool` answers one call with text, images and files.
 */
export interface Message {
  readonly role: Role
  readonly parts: readonly RequestPart[]
  /** For role `tool`: the id of the call it answers. */
  readonly callId?: string
  /** For role `tool`: the tool failed. */
  readonly isError?: true
  readonly extra?: Extra
  readonly native?: Native
}

export type Tool =
  | {
      readonly type: 'function'
      readonly name: string
      readonly description?: string
      /** JSON Schema of the arguments; absent where the function takes none. */
      readonly parameters?: JsonObject
      readonly strict?: boolean
      readonly cache?: CacheMark
      readonly extra?: Extra
      readonly native?: Native
    }
  /** A tool whose input is text, which must follow the grammar in `format` if there is one (OpenAI's form). */
  | {
      readonly type: 'custom'
      readonly name: string
      readonly description?: string
      readonly format?: JsonObject
      readonly cache?: CacheMark
      readonly extra?: Extra
      readonly native?: Native
    }
  /** A tool that the vendor runs itself; only its own dialect knows it. */
  | { readonly type: 'other'; readonly extra: Extra; readonly native?: Native }

export type ToolChoice =
  | { readonly mode: 'none' | 'auto' | 'required' }
  /** The model must call this tool. */
  | { readonly mode: 'tool'; readonly name: string }
  /** The model may call only these tools; with `required` it must call one of them. */
  | { readonly mode: 'allowed'; readonly names: readonly string[]; readonly required: boolean }

export type ResponseFormat =
  | { readonly type: 'text' }
  /** Any JSON object or value, without a schema. */
  | { readonly type: 'json' }
  | {
      readonly type: 'schema'
      readonly name: string
      readonly schema: JsonObject
      readonly description?: string
      readonly strict?: boolean
    }

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How much the model should think: an effort or a token budget, whichever the client gave. */
export interface Reasoning {
  readonly effort?: Effort
  readonly budgetTokens?: number
  /** The model decides itself how much to think. */
  readonly adaptive?: true
  /** How the client wants to see the reasoning, in full or as a summary; absent: the vendor's default. */
  readonly show?: 'none' | 'auto' | 'concise' | 'detailed'
}

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Message[]
  readonly stream: boolean
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: readonly string[]
  readonly choices?: number
  readonly seed?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  /** Token id -> -100..100. */
  readonly logitBias?: JsonObject
  readonly user?: string
  /** A stable id of the end user, by which the vendor recognises who breaks its usage policies. */
  readonly safetyIdentifier?: string
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  /** false: at most one call in a reply. */
  readonly parallelToolCalls?: boolean
  readonly responseFormat?: ResponseFormat
  readonly reasoning?: Reasoning
  /** The client wants the log probabilities of tokens, with this many alternatives for each. */
  readonly logprobs?: number
  readonly verbosity?: string
  /** As OpenAI spells it: `auto`, `default`, `flex`, `priority`, ... */
  readonly serviceTier?: string
  readonly metadata?: JsonObject
  /** Requests with the same key share the vendor's prompt cache. */
  readonly promptCacheKey?: string
  /** As OpenAI spells them: how long, and in which mode, the vendor caches the prompt. */
  readonly promptCacheRetention?: string
  readonly promptCacheOptions?: JsonObject
  /** The whole prompt should be cached (a mark on the request, not on a part). */
  readonly cache?: CacheMark
  /** The kinds of output the reply may contain: `text`, `image`, `audio`. */
  readonly modalities?: readonly string[]
  readonly extra?: Extra
  /**
   * Fields above in the client's own spelling, where its dialect has several for the same thing: written back
   * unchanged in that dialect and ignored by every other.
   */
  readonly wording?: Extra
}

/** The fields of a request beside its messages; a format may be unable to express some of them. */
export type ChatField = Exclude<
  keyof ChatRequest,
  'model' | 'messages' | 'stream' | 'extra' | 'wording'
>

/** The name by which clients know each field; used in `x-tollgate-dropped`. */
export const chatFieldNames: Readonly<Record<ChatField, string>> = {
  maxOutputTokens: 'max_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop',
  choices: 'n',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  user: 'user',
  safetyIdentifier: 'safety_identifier',
  tools: 'tools',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  responseFormat: 'response_format',
  reasoning: 'reasoning_effort',
  logprobs: 'logprobs',
  verbosity: 'verbosity',
  serviceTier: 'service_tier',
  metadata: 'metadata',
  promptCacheKey: 'prompt_cache_key',
  promptCacheRetention: 'prompt_cache_retention',
  promptCacheOptions: 'prompt_cache_options',
  cache: 'cache_control',
  modalities: 'modalities',
}

/** A web page that the text cites; `start` and `end` are offsets in the part's text. */
export interface UrlCitation {
  readonly url: string
  readonly title?: string
  readonly start?: number
  readonly end?: number
  readonly extra?: Extra
}

export type PartHead =
  /** `apart`: it is a message of its own, which does not go on where the choice's text before it ended. */
  | { readonly type: 'text'; readonly apart?: true }
  /** `redacted`: no text is shown; the part's end carries the encrypted text as `sealed`. */
  | { readonly type: 'reasoning'; readonly redacted?: true }
  | { readonly type: 'refusal' }
  /** Its deltas are base64. */
  | { readonly type: 'image'; readonly mediaType: string }
  /** Something only one dialect expresses, such as a tool the vendor ran itself: never shown as a tool call. */
  | { readonly type: 'other'; readonly extra: Extra }
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      /** The call's input is text and not JSON. */
      readonly custom?: true
    }

/**
 * One event of a reply. A whole reply is the fold of its events: `response-start` first, then for each choice its
 * parts and one `choice-end`; choices may be interleaved. Part numbers ascend within a choice and are never reused.
 * At most one part per choice is open, tool calls excepted: these may be open beside it and beside each other, for
 * vendors interleave parallel calls. Every part is closed before its choice ends. Usage may come at any time; each
 * usage event replaces the one before.
 */
export type ChatEvent =
  | {
      readonly type: 'response-start'
      readonly id: string
      readonly model: string
      readonly createdAt: number
      readonly extra?: Extra
    }
  | {
      readonly type: 'part-start'
      readonly choice: number
      readonly part: number
      readonly head: PartHead
    }
  | {
      readonly type: 'part-delta'
      readonly choice: number
      readonly part: number
      readonly text: string
    }
  /** `sealed`: the vendor's signature or encrypted text, which must go back to it on this part. */
  | {
      readonly type: 'part-end'
      readonly choice: number
      readonly part: number
      readonly sealed?: string
      readonly extra?: Extra
    }
  | {
      readonly type: 'citation'
      readonly choice: number
      readonly part: number
      readonly citation: UrlCitation
    }
  /** Log probabilities of the tokens of an open part, in OpenAI's form. */
  | {
      readonly type: 'logprobs'
      readonly choice: number
      readonly part: number
      readonly tokens: readonly JsonObject[]
    }
  | {
      readonly type: 'choice-end'
      readonly choice: number
      readonly reason: FinishReason
      /** The entry of `stop` that the model produced, where the vendor says so. */
      readonly stopText?: string
      readonly extra?: Extra
    }
  /** Dialect-private fields between the other events: of one choice, or of the whole reply where `choice` is null. */
  | { readonly type: 'extra'; readonly choice: number | null; readonly extra: Extra }
  /** `usage` is null where the vendor's report is implausible: any usage it reported before is then void too. */
  | { readonly type: 'usage'; readonly usage: Usage | null }
  | { readonly type: 'fault'; readonly fault: import('../errors.ts').Fault }
