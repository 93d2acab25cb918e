// Differences between model families behind Converse, recognised by their names in ids, inference profiles and ARNs.

import { type ModelTraits, traitsOf } from '../anthropic-messages/models.ts'

export interface Family {
  readonly name: 'claude' | 'nova' | 'gpt' | 'other'
  /** Accepts `cachePoint` among messages and in the system prompt. */
  readonly caches: boolean
  /** Accepts `cachePoint` among tools, and one that lasts an hour. */
  readonly cachesTools: boolean
  /**
   * How it can be made to call a tool: one by name, any of those offered, or not at all. Others answer "This model
   * doesn't support the toolConfig.toolChoice.tool field" (AWS, "ToolChoice"; for Mistral Large its .NET reference).
   */
  readonly forces: 'tool' | 'any' | null
  /** Reasons by its own `reasoningConfig`: Nova 2 alone, earlier ones refuse it (AWS, "Extended thinking"). */
  readonly configured: boolean
  /** Set for Claude models only. */
  readonly traits: ModelTraits | null
}

/** An application inference profile (`arn:...:application-inference-profile/ID`) hides its model: it is `other`. */
export function familyOf(model: string): Family {
  const id = model.toLowerCase()
  if (/anthropic|claude/.test(id)) {
    const traits = traitsOf(model)
    const forces = traits.forcedTool ? 'tool' : null
    return { name: 'claude', caches: true, cachesTools: true, forces, configured: false, traits }
  }
  if (/amazon\.nova|nova-/.test(id)) {
    const configured = /nova-2/.test(id)
    return {
      name: 'nova',
      caches: true,
      cachesTools: false,
      forces: 'tool',
      configured,
      traits: null,
    }
  }
  const name = /openai\.|gpt-oss/.test(id) ? 'gpt' : 'other'
  return {
    name,
    caches: false,
    cachesTools: false,
    forces: forcesOf(id),
    configured: false,
    traits: null,
  }
}

/** An ARN may hide a Claude, so a forced call is sent there. */
function forcesOf(id: string): Family['forces'] {
  if (/mistral-large/.test(id)) return 'any'
  return id.startsWith('arn:') && !id.includes(':foundation-model/') ? 'tool' : null
}
