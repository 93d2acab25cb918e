// How long a reply may be, where channels change what the client said of it.

import { isLimit } from '../config/parameter-rules.ts'
import type { ParameterSettings } from '../config/types.ts'
import type { Candidate } from '../router/route.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import type { Peek } from '../wire/request.ts'

/** The request as it is held for: by the longest reply that any of its channels may be asked for. */
export function boundedBy(
  candidates: readonly Candidate[],
  peek: Peek,
  { operation }: Pick<ClientDialect, 'operation'>,
): Peek {
  if (candidates.every(({ parameters }) => parameters === undefined)) return peek
  if (operation !== 'chat' && operation !== 'completion') return peek
  const bounds = candidates.map(({ parameters = {} }) => boundOf(parameters, peek))
  const known = bounds.filter((bound) => bound !== null)
  if (known.length === bounds.length) return { ...peek, maxOutputTokens: Math.max(...known) }
  const least = Math.max(peek.leastOutputTokens ?? 0, peek.maxOutputTokens ?? 0, ...known)
  return { ...peek, maxOutputTokens: null, leastOutputTokens: least }
}

/** null: the channel leaves the reply unbounded. */
function boundOf(
  { set = {}, remove = [], defaults = {} }: ParameterSettings,
  { maxOutputTokens }: Peek,
): number | null {
  const limitIn = (values: Readonly<Record<string, unknown>>): number | null => {
    const found = Object.keys(values).filter(isLimit)
    return found.length === 0 ? null : Math.max(...found.map((name) => Number(values[name])))
  }
  const said = limitIn(set)
  if (said !== null) return said
  const stays = remove.some(isLimit) ? null : maxOutputTokens
  return stays ?? limitIn(defaults)
}
