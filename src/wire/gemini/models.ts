// What a model of Google's takes, by its name: the family's number, and what is odd about single models.

/** Tells Gemini 3 that a call's signature cannot be had (ai.google.dev, "Thought signatures"). */
export const noSignature = 'skip_thought_signature_validator'

export interface ModelTraits {
  /** `gemini-2.5-flash` is 2.5; 0 for a name that does not say. */
  readonly version: number
  /** Real JSON Schema in `parametersJsonSchema` and `responseJsonSchema` (since 2.5). */
  readonly jsonSchema: boolean
  /** Ids on calls and their answers, images inside an answer, signatures demanded back (since 3). */
  readonly third: boolean
  readonly thinks: 'level' | 'budget' | null
  /** Bounds of `thinkingBudget`; `least` of 0: may be switched off. */
  readonly budget: { readonly least: number; readonly most: number }
  /** Words of `thinkingLevel` it knows. */
  readonly levels: readonly string[]
}

const named = /gemini-(?:[a-z]+-)*?(\d+(?:\.\d+)?)/i

/**
 * Traits by the vendor's own name of a model, which may stand behind a path (`tunedModels/x`, `publishers/google/x`).
 * Sources: ai.google.dev, "Gemini thinking" (budgets and levels by model), "Function calling" (ids, multimodal
 * responses), "Structured output" (JSON Schema). A name that does not say is taken for one of the oldest kind.
 */
export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase()
  const latest = /gemini-(pro|flash|flash-lite)-latest/.test(name)
  const version = latest ? 2.5 : Number(named.exec(name)?.[1] ?? 0)
  const third = version >= 3
  const pro = name.includes('pro')
  const speechOrImage = /-(image|tts|live|native-audio)/.test(name)
  return {
    version,
    jsonSchema: version >= 2.5,
    third,
    thinks: speechOrImage ? null : third ? 'level' : version >= 2.5 ? 'budget' : null,
    budget: pro ? { least: 128, most: 32_768 } : { least: 0, most: 24_576 },
    levels: pro
      ? version > 3
        ? ['LOW', 'MEDIUM', 'HIGH']
        : ['LOW', 'HIGH']
      : ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'],
  }
}

/** What the parts of one request share while they are written. */
export interface Encoding {
  readonly traits: ModelTraits
  /** Names of what is left out, in the client's words. */
  readonly dropped: string[]
}
