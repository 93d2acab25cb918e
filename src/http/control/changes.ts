// What a change did to the thing it is about: what the route that shows the thing answers before it, and after it.

import { AdminError } from '../../admin/use-case.ts'
import type { EventChanges } from '../../store/control.ts'
import { judged } from './input.ts'
import type { ControlRequest, ControlRoute } from './route.ts'

type AnyRequest = ControlRequest<object, object, object>
type Shown = Readonly<Record<string, unknown>>

/** Of everything that is larger only the names are kept. */
const mostBytes = 16_384
/** It differs after every change. */
const uninteresting = new Set(['revision'])

/**
 * The route that shows what this one changes: the longest address within its own that names a thing. null for a removal
 * too: what is forgotten must not stay here.
 */
export function showing(
  routes: readonly ControlRoute[],
  { path, method }: Pick<ControlRoute, 'path' | 'method'>,
): ControlRoute | null {
  if (method === 'get' || method === 'delete') return null
  const shown = routes
    .filter((each) => each.method === 'get' && each.reply !== undefined && each.personal !== true)
    .filter((each) => each.path.endsWith('}') && `${path}/`.startsWith(`${each.path}/`))
    .sort((one, other) => other.path.length - one.path.length)
  return shown[0] ?? null
}

/** Looks at the thing now, and when the result is called once more. */
export async function watchChanges(
  shown: ControlRoute,
  asked: AnyRequest,
): Promise<() => Promise<EventChanges | null>> {
  const before = await look(shown, asked)
  return async () => changesBetween(before, await look(shown, asked))
}

/** null: there is no such thing. */
async function look(route: ControlRoute, asked: AnyRequest): Promise<Shown | null> {
  try {
    const answer = await route.run({ ...asked, query: judged(route.query, {}, 'query') })
    return answer === undefined || answer instanceof Response ? null : (answer.body as Shown)
  } catch (error) {
    if (error instanceof AdminError && error.refusal === 'not_found') return null
    throw error
  }
}

/** null: nothing differs. */
function changesBetween(before: Shown | null, after: Shown | null): EventChanges | null {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const changes = [...names].flatMap((name) => {
    const [was, is] = [before?.[name] ?? null, after?.[name] ?? null]
    const isSame = uninteresting.has(name) || JSON.stringify(was) === JSON.stringify(is)
    return isSame ? [] : [[name, { before: was, after: is }] as const]
  })
  if (changes.length === 0) return null
  const all = Object.fromEntries(changes)
  if (JSON.stringify(all).length <= mostBytes) return all
  return Object.fromEntries(
    changes.map(([name]) => [name, { before: '(large)', after: '(large)' }]),
  )
}
