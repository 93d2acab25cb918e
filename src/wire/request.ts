// What the gateway has to know of a request before it sends it on, in any format.

/** A half-open range of byte offsets. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Charged quantities other than tokens, by price name. */
export type Units = Readonly<Record<string, number>>

/** What a format needs to know about an uploaded file of a form. */
export interface FileInfo {
  readonly field: string
  readonly name: string
  /** Media type in lower case, detected from the bytes where possible, else as the client declared it. */
  readonly type: string
  readonly size: number
  /** Duration of audio and video whose container states it; else null. */
  readonly seconds: number | null
}

/**
 * The fields of a form and their types: text is converted to the JSON type of that name. `files` may be repeated as
 * `name`, `name[]` or `name[0]`; so may `list`, which is a list of texts.
 */
export type FormFields = Readonly<
  Record<string, 'text' | 'number' | 'boolean' | 'json' | 'list' | 'file' | 'files'>
>

/** What determines an image's price and whether a model can make it. */
export interface RequestedImages {
  /** `WIDTHxHEIGHT`, `auto`, or whatever else the client wrote; null where it named no size. */
  readonly size: string | null
  readonly quality: string | null
  readonly count: number
  /** Partial images that a stream shows before each finished image. */
  readonly partials: number
  /** Input images, the mask included. */
  readonly inputs: number
}

/** Ranges of the body to be cut out, and the names of what is then missing. */
export interface LeftOut {
  readonly spans: readonly Span[]
  readonly names: readonly string[]
}

/**
 * What the model's messages have beyond what requests have: `reply`: members of OpenAI's own replies; `foreign`: members
 * of other vendors' replies or of the gateway's, or an id of a call that is longer than OpenAI takes.
 */
export type SentBack = 'reply' | 'foreign'

/** What the gateway needs to know of a request, and where it stands in the bytes. */
export interface Peek {
  /** The bytes all spans refer to: the client's body, escaped names spelled plainly, members in `dropped` cut out. */
  readonly body: Uint8Array
  readonly model: string
  /** The model's JSON string, quotes included; null where the address names the model. */
  readonly modelSpan: Span | null
  readonly stream: boolean
  /** The client asked for usage on the stream itself (`stream_options.include_usage`). */
  readonly wantsUsage: boolean
  /** The value of `stream_options`, where present and not null. */
  readonly streamOptionsSpan: Span | null
  /** Offset of the closing brace of the body. */
  readonly bodyEnd: number
  readonly maxOutputTokens: number | null
  /** Output tokens to allow for whatever `maxOutputTokens` says: some vendors read another member as the limit. */
  readonly leastOutputTokens?: number
  /** Members that were cut out of the body; the client is told their names. */
  readonly dropped?: readonly string[]
  /** Replies the vendor generates: `n`, or the `best_of` from which they are chosen, times the number of prompts. */
  readonly choices: number
  /** The first image part, as a parameter path (`messages[1].content[0]`), else null. */
  readonly imageParam: string | null
  /** Offsets in the body of parts other than text: images, audio, video, documents; absent where there are none. */
  readonly attachments?: readonly number[] | undefined
  /** The resolution (the client's word) for attachments that do not state their own. */
  readonly attachmentDetail?: string | null
  /** Names of all members at the top level. */
  readonly keys: readonly string[]
  /** For embeddings: the encoding of the vectors that the client expects. */
  readonly encodingFormat: 'float' | 'base64'
  /** For embeddings: the input is token ids and not text. */
  readonly tokenInput: boolean
  /** The most that is charged beside tokens, by price name (`image/1024x1024/hd`, `second`, `character`). */
  readonly units?: Units
  /** Upper bound of the prompt's tokens, where the body's size does not give one. */
  readonly inputTokens?: number
  /** Set for image requests. */
  readonly picture?: RequestedImages
  /** What is charged if the reply does not say; `units` are then only an upper bound. */
  readonly likelyUnits?: Units
  /** The longest that audio in a file of this size can last, in seconds: a longer reported duration is not believed. */
  readonly mostSeconds?: number
  /** Tokens of the audio in uploaded files, which the size of the body does not include. */
  readonly audioTokens?: { readonly most: number; readonly likely: number }
  /** What a vendor of this same format that refuses foreign reasoning is not sent; absent where there is none. */
  readonly thoughts?: LeftOut
  readonly sentBack?: SentBack
  /** Replacements in the body for a vendor of this same format. */
  readonly vendorEdits?: readonly (Span & { readonly text: string })[]
}

/** What the request's URL and headers say, where a format keeps it there and not in the body. */
export interface Address {
  readonly model?: string
  readonly stream?: boolean
  /** Those client headers that `clientHeaders` and `stateHeaders` of the dialect list. */
  readonly headers?: Readonly<Record<string, string>>
  /** The request asks only for a count of its tokens. */
  readonly counts?: true
  /** The files of a form; the body is then its other fields as JSON. */
  readonly files?: readonly FileInfo[]
  /** The stream should be one JSON array in place of events (Gemini without `alt=sse`). */
  readonly list?: boolean
}

/** The peek of a request of which only the model is known. */
export function modelPeek(model: string, body: Uint8Array): Peek {
  return {
    body,
    model,
    modelSpan: null,
    stream: false,
    wantsUsage: false,
    streamOptionsSpan: null,
    bodyEnd: 0,
    maxOutputTokens: null,
    choices: 1,
    imageParam: null,
    keys: [],
    encodingFormat: 'float',
    tokenInput: false,
  }
}
