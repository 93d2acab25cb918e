// Sign-in and sessions, as the control API uses them.

import type { SessionPrincipal } from './principal.ts'

export interface Sessions {
  /** Who is signed in by the request's cookie; null: nobody. Rejects where the store is away. */
  sessionOf(headers: Headers): Promise<SessionPrincipal | null>
  /** Answers a request below `/api/auth`. `address`: the caller's, as the trusted proxies say. */
  handler(request: Request, address: string | null, requestId: string): Promise<Response>
}
