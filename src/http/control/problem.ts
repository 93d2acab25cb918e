// Refusals of the control API: problem details (RFC 9457) that name the field at fault.

import { z } from '@hono/zod-openapi'
import {
  AdminError,
  type Refusal,
  type RefusalReason,
  refusalReasons,
} from '../../admin/use-case.ts'
import { isStoreAway } from '../../store/away.ts'
import { RowRefused } from '../../store/store.ts'

const statuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  stale: 412,
  too_large: 413,
  unsupported_media_type: 415,
  key_reused: 422,
  limited: 429,
  internal: 500,
  unavailable: 503,
} as const

const titles = {
  invalid: 'The request is not valid',
  unauthenticated: 'Sign in, or send a management key',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  conflict: 'The current state does not allow it',
  stale: 'The object was changed since it was read',
  too_large: 'The request is too large',
  unsupported_media_type: 'The media type of the body is not supported',
  key_reused: 'The Idempotency-Key was used for another request',
  limited: 'Too many requests',
  internal: 'The gateway failed',
  unavailable: 'The store cannot be reached',
} as const satisfies Record<ProblemCode, string>

type ProblemCode = keyof typeof statuses

export const problemType = 'application/problem+json'

/** A refusal by the control API itself; use cases refuse with AdminError. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  readonly code: ProblemCode
  /** A field of the body, the query or the path; null where the refusal is about none. */
  readonly field: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly reason: RefusalReason | null

  constructor(
    code: ProblemCode,
    message: string,
    field: string | null = null,
    headers: Readonly<Record<string, string>> = {},
    reason: RefusalReason | null = null,
  ) {
    super(message)
    this.code = code
    this.field = field
    this.headers = headers
    this.reason = reason
  }
}

export const problemSchema = z
  .object({
    type: z.string().openapi({ description: 'URN of `code`' }),
    title: z.string().openapi({ description: 'Meaning of `code`' }),
    status: z.number().int().openapi({ description: 'HTTP status' }),
    detail: z.string().openapi({ description: 'Explanation for people, in English' }),
    code: z.enum(Object.keys(statuses) as [ProblemCode, ...ProblemCode[]]),
    field: z.string().optional().openapi({
      description: 'Field of the body, the query or the path at fault, or a header',
    }),
    reason: z.enum(refusalReasons).optional().openapi({
      description: 'Cause of the refusal, for programs that show texts of their own',
    }),
    requestId: z.string().openapi({ description: 'Id under which the log has the request' }),
  })
  .openapi('Problem')

const ofRefusal: Readonly<Record<Refusal, ProblemCode>> = {
  invalid: 'invalid',
  not_found: 'not_found',
  conflict: 'conflict',
  stale: 'stale',
  forbidden: 'forbidden',
}

const retryAfterSeconds = 2

/** Turns any error into a ControlError; `internal` says nothing about the cause. */
export function controlErrorOf(error: unknown): ControlError {
  if (error instanceof ControlError) return error
  if (error instanceof AdminError) {
    const { refusal, field, message, reason } = error
    return new ControlError(ofRefusal[refusal], `${field}: ${message}`, field, {}, reason)
  }
  if (error instanceof RowRefused)
    return new ControlError('invalid', 'The store cannot keep a value of the request.')
  if (isStoreAway(error)) {
    const headers = { 'retry-after': String(retryAfterSeconds) }
    return new ControlError('unavailable', 'Try again in a moment.', null, headers)
  }
  return new ControlError('internal', 'The gateway failed to handle this request.')
}

/** Whether this is a refusal, which changed nothing; after any other failure it is unknown how far a request got. */
export function isRefusal(error: unknown): boolean {
  return statuses[controlErrorOf(error).code] < 500
}

export function problemReply(error: ControlError, requestId: string): Response {
  const { code, field, message, reason } = error
  const status = statuses[code]
  const body = {
    type: `urn:tollgate:problem:${code}`,
    title: titles[code],
    status,
    detail: message,
    code,
    ...(field !== null && { field }),
    ...(reason !== null && { reason }),
    requestId,
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...error.headers, 'content-type': problemType },
  })
}
