// Records operator events: each change by a caller who may change others' data, and reads that are marked for it.

import { addEvent, madeBy } from '../../admin/events.ts'
import type { EventChanges } from '../../store/control.ts'
import { actorOf, isUnsafe, roleOf } from './access.ts'
import type { ControlRequest, ControlRoute } from './route.ts'

export function isNoted(route: ControlRoute, asked: Noted): boolean {
  const { access, method, audited, reads } = route
  if (audited === true) return true
  if (reads === true) return false
  const { principal } = asked
  if (access === 'session' || access === 'public' || principal === null) return false
  return isUnsafe(method) && roleOf(principal) === 'admin'
}

type Noted = Pick<
  ControlRequest<object, object, object>,
  'principal' | 'params' | 'body' | 'address' | 'services'
>

/** The id of what a request made: its path names only what existed before. */
export function madeByRoute(answer: Awaited<ReturnType<ControlRoute['run']>>): {
  readonly id?: string
} {
  return answer === undefined || answer instanceof Response ? {} : madeBy(answer.body)
}

/** The target that the body names. */
export function namedIn(
  body: object,
  { targetField }: ControlRoute,
): Readonly<Record<string, unknown>> {
  if (targetField === undefined) return {}
  const fields: Readonly<Record<string, unknown>> = { ...body }
  return fields[targetField] === undefined ? {} : { [targetField]: fields[targetField] }
}

export async function note(
  route: ControlRoute,
  asked: Noted,
  changes: EventChanges | null,
): Promise<void> {
  const { principal, params, body, address, services } = asked
  if (principal === null) return
  await addEvent(services.store, {
    actor: actorOf(principal),
    role: roleOf(principal),
    action: route.id,
    target: Object.fromEntries(Object.entries(params).map(([name, id]) => [name, String(id)])),
    detail: { ...body },
    address,
    changes,
  })
}
