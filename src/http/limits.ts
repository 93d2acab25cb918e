// Enforces rate limits: refuses callers past a limit before their bodies are read, and counts what requests used.

import { GatewayError } from '../errors.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import { limitHeaders } from '../limits/headers.ts'
import type { Admitted, Limiter, LimitScope, Refused } from '../limits/limiter.ts'
import type { Fields, Hook, Passage } from '../operations/operation.ts'

/** About four bytes of English text make a token; the estimate is corrected by the vendor's reported usage. */
const bytesPerToken = 4

interface LimitHookOptions {
  readonly limiter: Limiter
  /** The limits that apply to this caller. */
  scopes(principal: KeyPrincipal): readonly LimitScope[]
  /** Called for each request that a limit refused. */
  refused(decision: Refused): void
}

export function limitHook({ limiter, scopes, refused }: LimitHookOptions): Hook {
  const judge = (decision: Admitted | Refused, fields: Fields): Passage => {
    for (const [name, value] of limitHeaders(decision.state)) fields[name] = value
    if (decision.admitted)
      return { after: (ended) => decision.finish(ended?.tokens ?? 0, performance.now()) }
    refused(decision)
    const { kind, retryAfterMs } = decision
    const what = kind === 'concurrent' ? 'concurrent requests' : `${kind} per minute`
    const message = `Rate limit reached for ${what}; retry later.`
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs })
  }
  return {
    admit({ principal, bodyBytes, fields }) {
      const limited = scopes(principal)
      if (limited.length === 0) return null
      const decision = limiter.admit(
        limited,
        Math.ceil(bodyBytes / bytesPerToken),
        performance.now(),
      )
      if (decision instanceof Promise) return decision.then((late) => judge(late, fields))
      return judge(decision, fields)
    },
  }
}
