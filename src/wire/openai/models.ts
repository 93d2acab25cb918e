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

/** Hosts prefix a maker to the name, and OpenAI `ft:` to that of a tuned model. Null: not an OpenAI model. */
export function traitsOf(model: string): OpenAiTraits | null {
  const name = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/^ft:/, '')
  return table.find(([pattern]) => pattern.test(name))?.[1] ?? null
}
