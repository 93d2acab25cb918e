// What the gateway has to know of a request before it sends it on, in any format.

/** A half-open range of byte offsets. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Counts of what is not tokens, by price name. */
export type Units = Readonly<Record<string, number>>

/** A file of a form, as far as a format has to know of it. */
export interface FileInfo {
  readonly field: string
  readonly name: string
  /** Media type in lower case, as the bytes themselves show it where they do, else as the client said. */
  readonly type: string
  readonly size: number
  /** Of audio and video whose container says it. */
  readonly seconds: number | null
}

/**
 * The fields of a form, and what each is: text is turned into the JSON type of that name. `files` may come several
 * times, as `name`, `name[]` or `name[0]`; `list` likewise, and is a list of texts.
 */
export type FormFields = Readonly<
  Record<string, 'text' | 'number' | 'boolean' | 'json' | 'list' | 'file' | 'files'>
>

/** What decides an image's price and whether a model makes such. */
export interface RequestedImages {
  /** `WIDTHxHEIGHT`, `auto`, or what else the client wrote; null where it said nothing. */
  readonly size: string | null
  readonly quality: string | null
  readonly count: number
  /** Images on the way to each that a stream shows. */
  readonly partials: number
  /** Images given, the mask included. */
  readonly inputs: number
}

/** What the gateway needs to know of a request, and where it stands in the bytes. */
export interface Peek {
  /** The bytes all spans refer to: the client's own, but for names spelled plainly and members in `dropped`. */
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
  /** As many tokens may come whatever `maxOutputTokens` says: some vendors read other members. */
  readonly leastOutputTokens?: number
  /** Members that were cut out of the body, named to the client. */
  readonly dropped?: readonly string[]
  /** Replies that are made: `n`, or the `best_of` it is chosen from, for each of the prompts. */
  readonly choices: number
  /** The first image part, as a parameter path (`messages[1].content[0]`), else null. */
  readonly imageParam: string | null
  /** Where in the body the parts begin that are more than text: pictures, sound, films, documents; absent: none. */
  readonly attachments?: readonly number[] | undefined
  /** How closely they are looked at where they do not say, in the client's word. */
  readonly attachmentDetail?: string | null
  /** Names of all members at the top level. */
  readonly keys: readonly string[]
  /** Embeddings: what the client expects back. */
  readonly encodingFormat: 'float' | 'base64'
  /** Embeddings: the input holds token ids and not text. */
  readonly tokenInput: boolean
  /** What is charged beside tokens, by price name (`image/1024x1024/hd`, `second`, `character`): at most so many. */
  readonly units?: Units
  /** Tokens of the prompt at most, where the body's bytes do not tell. */
  readonly inputTokens?: number
  /** Of requests for images. */
  readonly picture?: RequestedImages
  /** What is charged where the reply does not say, where `units` are only the most it can be. */
  readonly likelyUnits?: Units
  /** The longest that sound of a file's size can last: no report of more is believed. */
  readonly mostSeconds?: number
  /** Tokens of sound in files, which no byte of the body shows. */
  readonly audioTokens?: { readonly most: number; readonly likely: number }
  /** What a vendor of this format is sent otherwise than the client said. */
  readonly vendorEdits?: readonly (Span & { readonly text: string })[]
}

/** What a request's address says, where a format keeps it there and not in the body. */
export interface Address {
  readonly model?: string
  readonly stream?: boolean
  /** The client's headers of `Dialect.clientHeaders` and `stateHeaders`, where it sent them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Only the tokens of the request are to be counted. */
  readonly counts?: true
  /** The files of a form; the body is then its other fields as JSON. */
  readonly files?: readonly FileInfo[]
  /** The stream is to be one JSON list in place of events (Gemini without `alt=sse`). */
  readonly list?: boolean
}

/** A request of which nothing but its model is looked at. */
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
