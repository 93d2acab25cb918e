// The bound on a reply's length where channels override the client's parameters.

import { isLimit } from '../config/parameter-rules.ts'
import { factsOf } from '../router/facts.ts'
import type { Candidate } from '../router/route.ts'
import { leastLimit } from '../vendors/responses-limit.ts'
import type { ClientDialect } from '../wire/dialect.ts'
import { limitMembers } from '../wire/limit-members.ts'
import type { Peek } from '../wire/request.ts'

/** The request as it is authorized: with the longest reply that any of its channels may be asked for. */
export function boundedBy(
  candidates: readonly Candidate[],
  peek: Peek,
  { operation }: Pick<ClientDialect, 'operation'>,
): Peek {
  if (operation !== 'chat' && operation !== 'completion') return peek
  if (!factsOf(candidates).changesParameters) return raised(candidates, peek)
  const bounds = candidates.flatMap(({ parameters = {}, dialect, instead }) =>
    // A channel may read the request in either format.
    (instead === undefined ? [dialect] : [dialect, instead]).map((each) =>
      boundOf({ parameters, dialect: each }, peek),
    ),
  )
  const known = bounds.filter((bound) => bound !== null)
  if (known.length === bounds.length) return { ...peek, maxOutputTokens: Math.max(...known) }
  const least = Math.max(peek.leastOutputTokens ?? 0, peek.maxOutputTokens ?? 0, ...known)
  return { ...peek, maxOutputTokens: null, leastOutputTokens: least }
}

/** A limit below what OpenAI's Responses take is raised on the way to them. */
function raised(candidates: readonly Candidate[], peek: Peek): Peek {
  const { maxOutputTokens: asked } = peek
  if (asked === null || asked >= leastLimit) return peek
  const isRaised = candidates.some(({ dialect, instead = dialect }) =>
    [dialect, instead].includes('openai-responses'),
  )
  return isRaised ? { ...peek, leastOutputTokens: leastLimit } : peek
}

/** The largest reply a channel may be asked for; null if no field that is certainly read limits it. */
function boundOf(
  { parameters = {}, dialect }: Pick<Candidate, 'parameters' | 'dialect'>,
  { maxOutputTokens }: Peek,
): number | null {
  const { set = {}, remove = [], defaults = {} } = parameters
  const read = limitMembers[dialect] ?? []
  const limitIn = (values: Readonly<Record<string, unknown>>): number | null => {
    const found = read.filter((name) => Object.hasOwn(values, name))
    return found.length === 0 ? null : Math.max(...found.map((name) => Number(values[name])))
  }
  // A limit that the channel sets replaces the client's, whatever its name.
  if (Object.keys(set).some(isLimit)) return limitIn(set)
  const stays = remove.some(isLimit) ? null : maxOutputTokens
  return stays ?? limitIn(defaults)
}
