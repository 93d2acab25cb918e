// Which of OpenAI's models are asked in Responses although their vendors have chats too.

import type { VendorDialectId } from '../wire/formats.ts'
import { effortsOf, responsesNeed, traitsOf } from '../wire/openai/models.ts'
import { nearestEffort } from './efforts.ts'
import { isMakersAddress } from './makers-address.ts'
import type { NamedCall, ServedModel, Value } from './vendor.ts'

const before: VendorDialectId = 'openai-responses'

/** The dialects with Responses before chats for newer models, and without chats for those that have none. */
export function responsesFirst(
  speaks: readonly VendorDialectId[],
): (served: ServedModel) => readonly VendorDialectId[] | null {
  const others = speaks.filter((dialect) => dialect !== before)
  const first = [before, ...others]
  const only = first.filter((dialect) => dialect !== 'openai-chat')
  return (served) => {
    if (!isMakers(served)) return null
    const need = responsesNeed(nameOf(served))
    return need === null ? null : need === 'only' ? only : first
  }
}

/** Whether the address is the maker's own, or said to lead there: what imitates it may have chats alone. */
function isMakers({ baseUrl, options }: ServedModel): boolean {
  const { responsesFirst: said } = options
  if (said !== undefined) return said === 'true'
  return baseUrl === null || isMakersAddress(baseUrl)
}

/** The vendor's name where it shows the model, else the client's: deployments have names of their own. */
function nameOf({ model, asked }: Pick<NamedCall, 'model' | 'asked'>): string {
  return traitsOf(model) === null && responsesNeed(model) === null ? asked : model
}

/** Whether the request offers functions beside an effort with which the model refuses them in a chat. */
export function offersToolsToThinker(
  call: NamedCall,
  keys: readonly string[],
  value: Value,
): boolean {
  if (call.dialect !== 'openai-chat') return false
  if (!keys.includes('tools') && !keys.includes('functions')) return false
  const name = nameOf(call)
  if (responsesNeed(name) !== 'tools') return false
  const effort = value('reasoning_effort')
  if (typeof effort !== 'string') return traitsOf(name)?.unthinking !== true
  return nearestEffort(effort, effortsOf(name, true) ?? [effort]) !== 'none'
}
