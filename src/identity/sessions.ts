// Sign-in and sessions, as the control API uses them.

import type { SessionPrincipal } from './principal.ts'

export interface Sessions {
  /** The person signed in by the request's cookie; null: nobody. Rejects if the store is unreachable. */
  sessionOf(headers: Headers): Promise<SessionPrincipal | null>
  /** Answers a request below `/api/auth`. `address`: the caller's, determined by the trusted proxies. */
  handler(request: Request, address: string | null, requestId: string): Promise<Response>
}
