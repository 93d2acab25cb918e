// Lets an operator view the control API as another account: reads what it reads, changes nothing, leaves an event.

import { addEvent } from '../../admin/events.ts'
import { AdminError } from '../../admin/use-case.ts'
import type { ControlPrincipal } from '../../identity/principal.ts'
import { actorOf, checkScopes, isUnsafe, roleOf } from './access.ts'
import { ControlError } from './problem.ts'
import type { ControlRoute } from './route.ts'
import type { ControlServices } from './services.ts'

const field = 'x-tollgate-view-as'
/**
 * The query parameter of the same meaning, for requests on which a browser sets no headers (downloads, event streams).
 */
export const viewAsParameter = 'view-as'
/** Least time between two events for the same operator and account. */
const notedMs = 600_000
const mostKept = 1_000

/** When the latest event was written, by operator and account. */
const noted = new Map<string, number>()

interface Asking {
  readonly request: Request
  readonly principal: ControlPrincipal | null
  readonly services: Pick<ControlServices, 'store'>
  readonly address: string | null
}

function viewedBy({ headers, url }: Pick<Request, 'headers' | 'url'>): string | null {
  return headers.get(field) ?? new URL(url).searchParams.get(viewAsParameter)
}

/** The principal to act for: the viewed account where an operator asks for one, else the caller. */
export function asViewed(
  principal: ControlPrincipal | null,
  request: Request,
): ControlPrincipal | null {
  const account = viewedBy(request)
  if (account === null || principal === null || roleOf(principal) === 'user') return principal
  return { kind: 'session', sessionId: '', account, role: 'user', signedInAt: 0 }
}

/**
 * Passes where the request views no account, or may view this one. Throws ControlError `forbidden`, AdminError
 * `not_found`.
 */
export async function checkViewing(route: ControlRoute, asking: Asking): Promise<void> {
  const { request, principal, services } = asking
  const account = viewedBy(request)
  if (account === null || principal === null) return
  if (roleOf(principal) === 'user')
    throw new ControlError(
      'forbidden',
      'Only an admin or an auditor can view as another account.',
      field,
    )
  if (principal.kind === 'management') checkScopes(principal.scopes, false)
  if (isUnsafe(route.method) && route.reads !== true)
    throw new ControlError(
      'forbidden',
      'Nothing can be changed while viewing as another account.',
      field,
    )
  if (route.access === 'session' || route.personal === true)
    throw new ControlError(
      'forbidden',
      'This cannot be read while viewing as another account: it is personal.',
      field,
    )
  const person = await services.store.people.find(account)
  if (person === null)
    throw new AdminError('not_found', field, `there is no account ${JSON.stringify(account)}`)
  await noteViewing(account, { ...asking, principal })
}

async function noteViewing(
  account: string,
  {
    principal,
    services,
    address,
  }: Omit<Asking, 'principal'> & { readonly principal: ControlPrincipal },
): Promise<void> {
  const nowMs = Date.now()
  const who = principal.kind === 'session' ? principal.account : principal.keyId
  const name = JSON.stringify([principal.kind, who, account])
  if (nowMs - (noted.get(name) ?? 0) < notedMs) return
  // Set before the event is written: a page sends many requests at once.
  noted.set(name, nowMs)
  if (noted.size > mostKept) noted.delete(noted.keys().next().value ?? '')
  try {
    const event = { action: 'viewAs', target: { id: account }, detail: {}, address, changes: null }
    const by = { actor: actorOf(principal), role: roleOf(principal) }
    await addEvent(services.store, { ...event, ...by })
  } catch (error) {
    noted.delete(name)
    throw error
  }
}
