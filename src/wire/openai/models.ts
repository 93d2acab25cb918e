// What OpenAI's chat models accept and refuse, as data: by their names, wherever they are served.

export interface OpenAiTraits {
  /** The model refuses `max_tokens` and requires `max_completion_tokens`. */
  readonly newLimit: boolean
  /** Members of a chat request that the model answers with 400, whatever their value. */
  readonly refused: readonly string[]
  /** Those of `refused` that it accepts together with an effort of `none`. */
  readonly takenUnthinking: readonly string[]
  /** The effort where a request names none is `none`. */
  readonly unthinking?: true
}

const tuned = ['presence_penalty', 'frequency_penalty', 'logit_bias']
const drawn = ['temperature', 'top_p', 'logprobs', 'top_logprobs']
const thinks = { newLimit: true, refused: [...drawn, ...tuned], takenUnthinking: [] }
const talks = { newLimit: false, refused: [], takenUnthinking: [] }

/**
 * Sources: OpenAI, "Reasoning models" and "Latest model, parameter compatibility", the reference of `stop`, and the
 * capability table of @ai-sdk/openai. The first match wins.
 */
const table: readonly (readonly [name: RegExp, traits: OpenAiTraits])[] = [
  [/^gpt-4o(-mini)?-search/, { ...talks, refused: [...drawn, ...tuned, 'reasoning_effort'] }],
  [
    /^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat)/,
    { ...talks, refused: ['reasoning_effort', 'verbosity'] },
  ],
  [/^o1(-|$)/, { ...thinks, refused: [...thinks.refused, 'parallel_tool_calls', 'verbosity'] }],
  [
    /^o\d(-|$)/,
    { ...thinks, refused: [...thinks.refused, 'parallel_tool_calls', 'verbosity', 'stop'] },
  ],
  [/^gpt-5(-|$)/, { ...thinks, refused: [...thinks.refused, 'stop'] }],
  [
    /^gpt-5\.[124](-\d{4}-\d{2}-\d{2})?$/,
    { ...thinks, refused: [...thinks.refused, 'stop'], takenUnthinking: drawn, unthinking: true },
  ],
  [/^gpt-[5-9](?!\d)/, { ...thinks, refused: [...thinks.refused, 'stop'], takenUnthinking: drawn }],
]

const three = ['low', 'medium', 'high']
const toXhigh = [...three, 'xhigh']

/**
 * The efforts that reasoning models take; any other is answered with 400. Sources: OpenAI, "Reasoning models" and the
 * pages of the models, and what its API answered each model (enricoros/big-AGI, issues 944 and 1159). The first match
 * wins.
 */
const efforts: readonly (readonly [
  name: RegExp,
  taken: readonly string[],
  inChats?: readonly string[],
])[] = [
  [/^(o\d.*-deep-research|computer-use)/, ['medium']],
  [/^(o\d|codex-mini)(-|$)/, three],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh']],
  [/^gpt-5(\.1)?-codex(?!-max)/, three],
  [/^gpt-5\.\d+-codex/, toXhigh],
  [/^gpt-5(-|$)/, ['minimal', ...three]],
  [/^gpt-5\.1/, ['none', ...three]],
  [/^gpt-5\.[2-5](?!\d)/, ['none', ...toXhigh]],
  [/^gpt-5\.\d/, ['none', ...toXhigh, 'max']],
  [/^gpt-6-astra/, [...toXhigh, 'max'], toXhigh],
]

/** Hosts prefix a maker to the name, and OpenAI `ft:` to that of a tuned model. */
function ownName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^ft:/, '')
}

/** Null: not an OpenAI model. */
export function traitsOf(model: string): OpenAiTraits | null {
  const name = ownName(model)
  return table.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

/**
 * What has to be asked in Responses: `only`: everything, chats are answered with 404 ("This model is only supported in
 * v1/responses"); `tools`: functions beside any effort but `none`, which chats are answered with 400; `none`: nothing,
 * but OpenAI advises it. Null: chats do as well. The first match wins.
 */
const inResponses: readonly (readonly [name: RegExp, need: 'only' | 'tools' | 'none' | null])[] = [
  [/^(codex|(gpt-[\d.]+(-\w+)?|o\d)-(codex|pro))(-|$)/, 'only'],
  [/^gpt-.*-(chat|search)/, null],
  [/^gpt-(5\.([4-9]|\d\d)|[6-9]|\d\d)/, 'tools'],
  [/^(gpt-5|o3(?!-mini)|o[4-9])/, 'none'],
]

export function responsesNeed(model: string): 'only' | 'tools' | 'none' | null {
  const name = ownName(model)
  return inResponses.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

/** Null where they are not known. */
export function effortsOf(model: string, inChats: boolean): readonly string[] | null {
  const name = ownName(model)
  const [, taken = null, chats = taken] = efforts.find(([pattern]) => pattern.test(name)) ?? []
  return inChats ? chats : taken
}
