// Finds what a change did to an item: compares what the route that shows the item answers before and after.

import { AdminError } from '../../admin/use-case.ts'
import type { EventChanges } from '../../store/control.ts'
import { changesBetween, type Shown } from './differences.ts'
import { judged } from './input.ts'
import type { ControlRequest, ControlRoute } from './route.ts'

type AnyRequest = ControlRequest<object, object, object>

/**
 * The route that shows what this one changes: the one with the longest path within this route's path that ends in an
 * id. null for removals too: a deleted item's data must not stay in the events.
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

/** Reads the item now, and again when the returned function is called. */
export async function watchChanges(
  shown: ControlRoute,
  asked: AnyRequest,
): Promise<() => Promise<EventChanges | null>> {
  const before = await look(shown, asked)
  return async () => changesBetween(before, await look(shown, asked))
}

/** null: the item does not exist. */
async function look(route: ControlRoute, asked: AnyRequest): Promise<Shown | null> {
  try {
    const answer = await route.run({ ...asked, query: judged(route.query, {}, 'query') })
    return answer === undefined || answer instanceof Response ? null : (answer.body as Shown)
  } catch (error) {
    if (error instanceof AdminError && error.refusal === 'not_found') return null
    throw error
  }
}
