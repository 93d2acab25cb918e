// What the model families behind Converse differ in, by their names: ids, inference profiles and ARNs hold them.

import { type ModelTraits, traitsOf } from '../anthropic-messages/models.ts'

export interface Family {
  readonly name: 'claude' | 'nova' | 'gpt' | 'other'
  /** `cachePoint` among messages and in the system prompt. */
  readonly caches: boolean
  /** `cachePoint` among tools, and one that lasts an hour. */
  readonly cachesTools: boolean
  /** Of Claude alone. */
  readonly traits: ModelTraits | null
}

/** An application's own profile (`arn:...:application-inference-profile/ID`) does not tell its model: it is `other`. */
export function familyOf(model: string): Family {
  const id = model.toLowerCase()
  if (/anthropic|claude/.test(id)) {
    return { name: 'claude', caches: true, cachesTools: true, traits: traitsOf(model) }
  }
  if (/amazon\.nova|nova-/.test(id)) {
    return { name: 'nova', caches: true, cachesTools: false, traits: null }
  }
  const name = /openai\.|gpt-oss/.test(id) ? 'gpt' : 'other'
  return { name, caches: false, cachesTools: false, traits: null }
}
