// What a chat means, independent of any format: the hub every dialect decodes into and encodes from.

import type { CallCounts, TokenCounts } from '../config/prices.ts'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

/** Fields private to one dialect, returned only to it. */
export type Extra = Readonly<Record<string, JsonObject>>

/**
 * How one dialect words a tool, a call or an answer that other dialects know as a function's: a namespace, a type that the
 * client runs. For vendors alone that take every type of tool of that dialect.
 */
type Native = Extra

/**
 * Token counts by kind. The kinds are disjoint: no token is counted inside another kind, so that a
 * price is a plain sum. `input` excludes cached and cache-written tokens, `output` excludes reasoning. Calls are no tokens.
 */
export interface Usage
  extends Pick<TokenCounts, UsualKind>,
    Partial<Omit<TokenCounts, UsualKind>>,
    Partial<CallCounts> {}

/** Kinds that every reader counts; few requests have the others. `cacheWrite` is what is written for five minutes. */
type UsualKind = 'input' | 'cachedInput' | 'cacheWrite' | 'output' | 'reasoning'

/** A choice that ends by the vendor's own trouble has no reason: it is a `fault`. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

/** Up to here the vendor may keep the prompt for later requests: five minutes, or an hour. */
export interface CacheMark {
  readonly ttl: '5m' | '1h'
}

/** What every part of a request may have. */
interface PartBase {
  readonly cache?: CacheMark
  readonly extra?: Extra
}

/** Text a person or a model wrote. `sealed`: the vendor's own, to be given back on this part. */
interface TextPart extends PartBase {
  readonly type: 'text'
  readonly text: string
  readonly sealed?: string
}

export interface ImagePart extends PartBase {
  readonly type: 'image'
  /** `https:` or `data:`; a vendor's own file has `vendorFile` and an empty address. */
  readonly url: string
  readonly vendorFile?: string
  readonly detail?: string
}

export interface FilePart extends PartBase {
  readonly type: 'file'
  /** `https:` or `data:` (its media type says what it is); empty where `vendorFile` is set. */
  readonly url: string
  /** The id of a file that lies with the vendor. */
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
 * What a model thought, given back to it. `sealed` is the signature or the encrypted text as the client was given it
 * (see hub/opaque-state.ts); `redacted`: there is nothing but that.
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

/** A part only one dialect knows: it stands in `extra` under that dialect's name. */
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
 * One turn, or a part of one: consecutive messages of a role stand as the client sent them, and a dialect whose turns
 * must alternate joins them. Role `tool` answers one call with text, images and files.
 */
export interface Message {
  readonly role: Role
  readonly parts: readonly RequestPart[]
  /** For role `tool`: the call it answers. */
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
      /** JSON Schema of the arguments; absent where there are none. */
      readonly parameters?: JsonObject
      readonly strict?: boolean
      readonly cache?: CacheMark
      readonly extra?: Extra
      readonly native?: Native
    }
  /** Its input is text, by a grammar where `format` says one (OpenAI's form). */
  | {
      readonly type: 'custom'
      readonly name: string
      readonly description?: string
      readonly format?: JsonObject
      readonly cache?: CacheMark
      readonly extra?: Extra
      readonly native?: Native
    }
  /** A tool the vendor runs itself; only its own dialect knows it. */
  | { readonly type: 'other'; readonly extra: Extra }

export type ToolChoice =
  | { readonly mode: 'none' | 'auto' | 'required' }
  /** This one must be called. */
  | { readonly mode: 'tool'; readonly name: string }
  /** Only these may be called; `required`: one of them must. */
  | { readonly mode: 'allowed'; readonly names: readonly string[]; readonly required: boolean }

export type ResponseFormat =
  | { readonly type: 'text' }
  /** Any JSON. */
  | { readonly type: 'json' }
  | {
      readonly type: 'schema'
      readonly name: string
      readonly schema: JsonObject
      readonly description?: string
      readonly strict?: boolean
    }

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** How much the model is to think; by effort or by a budget, whichever the client said. */
export interface Reasoning {
  readonly effort?: Effort
  readonly budgetTokens?: number
  /** The model decides by itself. */
  readonly adaptive?: true
  /** The client wants to see the thoughts, or a summary of them; absent: the vendor's habit. */
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
  /** A stable name of the person behind the request, by which the vendor tells who breaks its rules. */
  readonly safetyIdentifier?: string
  readonly tools?: readonly Tool[]
  readonly toolChoice?: ToolChoice
  /** false: at most one call in a reply. */
  readonly parallelToolCalls?: boolean
  readonly responseFormat?: ResponseFormat
  readonly reasoning?: Reasoning
  /** Probabilities of tokens are wanted, with so many alternatives for each. */
  readonly logprobs?: number
  readonly verbosity?: string
  /** In OpenAI's words: `auto`, `default`, `flex`, `priority`, ... */
  readonly serviceTier?: string
  readonly metadata?: JsonObject
  /** Requests of one key share what the vendor keeps of their prompts. */
  readonly promptCacheKey?: string
  /** The whole prompt is to be kept (a mark of the request, not of a part). */
  readonly cache?: CacheMark
  /** What the reply may consist of: `text`, `image`, `audio`. */
  readonly modalities?: readonly string[]
  readonly extra?: Extra
  /**
   * What fields above tell already, as the client worded it where its dialect has several words for it: returned to that
   * dialect as it was, of no interest to any other.
   */
  readonly wording?: Extra
}

/** What a request asks beside its messages: what a format may have no word for. */
export type ChatField = Exclude<
  keyof ChatRequest,
  'model' | 'messages' | 'stream' | 'extra' | 'wording'
>

/** The name clients know each by. */
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
  cache: 'cache_control',
  modalities: 'modalities',
}

/** A place on the web that the text rests on; `start` and `end` are offsets in the part's text. */
export interface UrlCitation {
  readonly url: string
  readonly title?: string
  readonly start?: number
  readonly end?: number
  readonly extra?: Extra
}

export type PartHead =
  | { readonly type: 'text' }
  /** `redacted`: nothing is shown of it; its end has it as `sealed`. */
  | { readonly type: 'reasoning'; readonly redacted?: true }
  | { readonly type: 'refusal' }
  /** Its deltas are base64. */
  | { readonly type: 'image'; readonly mediaType: string }
  /** What one dialect alone tells, such as a tool the vendor ran itself: never shown as a tool call. */
  | { readonly type: 'other'; readonly extra: Extra }
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      /** The call's input is text and not JSON. */
      readonly custom?: true
    }

/**
 * One thing a reply says. A whole reply is the fold of its events: `response-start` first, then for each
 * choice its parts and one `choice-end`, choices interleaved at will. Part numbers count up within a
 * choice and are never used twice. Of all but tool calls at most one part is open per choice;
 * tool calls may be open beside them and each other, for vendors interleave parallel calls. Every part
 * is closed before its choice ends. Usage may come at any time, each event replacing the last.
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
  /** `sealed`: the vendor's signature or encrypted text, to be given back to it on this part. */
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
  /** Probabilities of the tokens of an open part, in OpenAI's form. */
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
      /** The text of `stop` that was met, where the vendor says so. */
      readonly stopText?: string
      readonly extra?: Extra
    }
  /** Private fields that come between the others: of one choice, or of the reply itself where null. */
  | { readonly type: 'extra'; readonly choice: number | null; readonly extra: Extra }
  /** null: what the vendor reports cannot be believed, and nothing it reported before counts. */
  | { readonly type: 'usage'; readonly usage: Usage | null }
  | { readonly type: 'fault'; readonly fault: import('../errors.ts').Fault }
