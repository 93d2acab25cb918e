// Differences between model families behind Converse, recognised by their names in ids, inference profiles and ARNs.

import { type ModelTraits, traitsOf } from '../anthropic-messages/models.ts'

export interface Family {
  readonly name: 'claude' | 'nova' | 'gpt' | 'other'
  /** Accepts `cachePoint` among messages and in the system prompt. */
  readonly caches: boolean
  /** Accepts `cachePoint` among tools, and one that lasts an hour. */
  readonly cachesTools: boolean
  /** Set for Claude models only. */
  readonly traits: ModelTraits | null
}

/** An application inference profile (`arn:...:application-inference-profile/ID`) hides its model: it is `other`. */
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
