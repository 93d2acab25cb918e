// What an operation means, in nobody's spelling: the hub every dialect decodes into and encodes from.

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

/** Fields private to one dialect, returned only to it. */
export type Extra = Readonly<Record<string, JsonObject>>

/**
 * Token counts by kind. The kinds are disjoint: no token is counted inside another kind, so that a
 * price is a plain sum. `input` excludes cached and cache-written tokens, `output` excludes reasoning.
 */
export interface Usage {
  readonly input: number
  readonly cachedInput: number
  readonly cacheWrite: number
  readonly output: number
  readonly reasoning: number
  /** Written for an hour; `cacheWrite` is what is written for five minutes. */
  readonly cacheWrite1h?: number
  readonly audioInput?: number
  readonly audioOutput?: number
  readonly imageInput?: number
  readonly imageOutput?: number
}

/** A choice that ends by the vendor's own trouble has no reason: it is a `fault`. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

export type RequestPart =
  | { readonly type: 'text'; readonly text: string; readonly extra?: Extra }
  | { readonly type: 'image'; readonly url: string; readonly extra?: Extra }
  | {
      readonly type: 'tool-call'
      readonly id: string
      readonly name: string
      /** JSON text, or any text where the tool is `custom`. */
      readonly arguments: string
      readonly custom?: true
      readonly extra?: Extra
    }
  /** A part only one dialect knows: it stands in `extra` under that dialect's name. */
  | { readonly type: 'other'; readonly extra: Extra }

export interface Message {
  readonly role: Role
  readonly parts: readonly RequestPart[]
  /** For role `tool`: the call it answers. */
  readonly callId?: string
  readonly extra?: Extra
}

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Message[]
  readonly stream: boolean
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stop?: readonly string[]
  readonly choices?: number
  readonly seed?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  /** Token id -> -100..100. */
  readonly logitBias?: JsonObject
  readonly user?: string
  readonly extra?: Extra
}

export type PartHead =
  | { readonly type: 'text' }
  | { readonly type: 'reasoning' }
  | { readonly type: 'refusal' }
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
 * choice and are never used twice. Of text, reasoning and refusal at most one part is open per choice;
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
  | {
      readonly type: 'part-end'
      readonly choice: number
      readonly part: number
      readonly extra?: Extra
    }
  | {
      readonly type: 'choice-end'
      readonly choice: number
      readonly reason: FinishReason
      readonly extra?: Extra
    }
  /** Private fields that come between the others: of one choice, or of the reply itself where null. */
  | { readonly type: 'extra'; readonly choice: number | null; readonly extra: Extra }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'fault'; readonly fault: import('../errors.ts').Fault }
