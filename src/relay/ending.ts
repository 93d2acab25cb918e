// The end of a request: its money is closed, and whoever is to hear of it is told.

import { type Priced, settle } from '../billing/settle.ts'
import type { Keeping } from '../billing/settlement.ts'
import type { Observer, RelayRequest } from './request.ts'

export function settleRequest(
  observer: Observer,
  request: RelayRequest,
  priced: Priced,
  keeping: Keeping,
): void {
  const beganMs = performance.now()
  settle(priced, keeping)
  observer.settled(request, priced)
  observer.settling(performance.now() - beganMs)
}

/** The same, where its operation does not close it otherwise. */
export function closeRequest(
  observer: Observer,
  request: RelayRequest,
  priced: Priced,
  keeping: Keeping,
): void {
  if (request.settle === undefined) settleRequest(observer, request, priced, keeping)
  else request.settle(request, priced, keeping)
}
