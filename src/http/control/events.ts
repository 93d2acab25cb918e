// Records operator events: each change by a caller who may change others' data, and reads that are marked for it.

import { newRequestId } from '../../history/caller.ts'
import type { ControlPrincipal } from '../../identity/principal.ts'
import type { EventChanges, OperatorEvent } from '../../store/control.ts'
import type { Store } from '../../store/store.ts'
import { actorOf, isUnsafe, roleOf } from './access.ts'
import type { ControlRequest, ControlRoute } from './route.ts'

/** Fields whose values are never recorded, at any depth of a body. Numbers of tokens are no secret. */
const secret = /secret|password|token(?!s)|private|authorization/i
const shown = '(not kept)'
const deepest = 8

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
export function madeBy(answer: Awaited<ReturnType<ControlRoute['run']>>): { readonly id?: string } {
  if (answer === undefined || answer instanceof Response) return {}
  const { body } = answer
  if (typeof body !== 'object' || body === null || !('id' in body)) return {}
  return typeof body.id === 'string' ? { id: body.id } : {}
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
  await addEvent(services.store, principal, {
    action: route.id,
    target: Object.fromEntries(Object.entries(params).map(([name, id]) => [name, String(id)])),
    detail: withoutSecrets(body, 0) as Record<string, unknown>,
    address,
    changes: changes && (withoutSecrets(changes, 0) as EventChanges),
  })
}

export async function addEvent(
  store: Pick<Store, 'operatorEvents'>,
  principal: ControlPrincipal,
  event: Omit<OperatorEvent, 'id' | 'at' | 'actor' | 'role'>,
): Promise<void> {
  const at = Date.now()
  await store.operatorEvents.add({
    // Lists sort by this id: it keeps the order also within a millisecond.
    id: newRequestId(at).replace('req_', 'evt_'),
    at,
    actor: actorOf(principal),
    role: roleOf(principal),
    ...event,
  })
}

function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepest) return shown
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      secret.test(name) ? shown : withoutSecrets(item, depth + 1),
    ]),
  )
}
