// What a vendor's model says in each scenario, independent of any format, and what a client must read from it.

export interface SaidCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** In the Responses format the tool is in a namespace, and its input is the text under `input`. */
  readonly namespace?: string
  readonly free?: true
}

/** Disjoint kinds, as the gateway counts them. */
export interface SaidUsage {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export interface Said {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly SaidCall[]
  readonly usage: SaidUsage
}

/** What an official client read from the reply. Kinds that it cannot represent are null. */
export interface Understood {
  readonly text: string
  readonly reasoning: string | null
  readonly calls: readonly Omit<SaidCall, 'id'>[]
  readonly usage: { readonly [Kind in keyof SaidUsage]: number | null }
}

export const features = [
  'text',
  'tools',
  'parallel tools',
  'vision',
  'structured output',
  'reasoning',
  'caching',
  'usage',
] as const
export type Feature = (typeof features)[number]

const plain: Said = {
  text: 'Grüße aus Paris, 你好.',
  reasoning: '',
  calls: [],
  usage: { input: 20, cached: 0, output: 12, reasoning: 0 },
}

const paris: SaidCall = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } }
const rome: SaidCall = { id: 'call_2', name: 'get_weather', input: { city: 'Rome' } }

export const scenarios: Readonly<Record<Feature, Said>> = {
  text: plain,
  tools: { ...plain, text: '', calls: [paris] },
  'parallel tools': { ...plain, text: 'Looking up both.', calls: [paris, rome] },
  vision: { ...plain, text: 'A red square.' },
  'structured output': { ...plain, text: '{"city":"Paris","warm":true}' },
  reasoning: {
    ...plain,
    reasoning: 'The user greets, so I greet.',
    usage: { ...plain.usage, reasoning: 5 },
  },
  caching: { ...plain, usage: { input: 12, cached: 8, output: 12, reasoning: 0 } },
  usage: { ...plain, usage: { input: 123, cached: 0, output: 45, reasoning: 0 } },
}

/** One red pixel. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

export const weatherSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const

export const answerSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, warm: { type: 'boolean' } },
  required: ['city', 'warm'],
  additionalProperties: false,
} as const
