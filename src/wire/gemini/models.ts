// What each Google model accepts, by its name: the version of its family, and peculiarities of single models.

/** Tells Gemini 3 that there is no signature for a call (ai.google.dev, "Thought signatures"). */
export const noSignature = 'skip_thought_signature_validator'

export interface ModelTraits {
  /** E.g. 2.5 for `gemini-2.5-flash`; 0 for a name without a version. */
  readonly version: number
  /** Accepts JSON Schema in `parametersJsonSchema` and `responseJsonSchema` (since 2.5). */
  readonly jsonSchema: boolean
  /** Has ids on calls and answers, accepts images inside an answer, requires signatures back (since 3). */
  readonly third: boolean
  readonly thinks: 'level' | 'budget' | null
  /** Limits of `thinkingBudget`; where `least` is 0, thinking can be switched off. */
  readonly budget: { readonly least: number; readonly most: number }
  /** The values of `thinkingLevel` that the model accepts. */
  readonly levels: readonly string[]
}

const named = /gemini-(?:[a-z]+-)*?(\d+(?:\.\d+)?)/i

/**
 * Traits by the vendor's name of a model, which may have a path before it (`tunedModels/x`, `publishers/google/x`).
 * Sources: ai.google.dev, "Gemini thinking" (budgets and levels by model), "Function calling" (ids, multimodal
 * responses), "Structured output" (JSON Schema). A name without a version counts as one of the oldest.
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

/** State shared by all parts of one request while it is encoded. */
export interface Encoding {
  readonly traits: ModelTraits
  /** Names of what is left out, as clients know them. */
  readonly dropped: string[]
}
