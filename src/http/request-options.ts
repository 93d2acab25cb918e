// Reads what a client asks about its bill: to show, estimate or cap the cost, and not to run a repeated request twice.

import type { RequestOptions } from '../billing/authorization.ts'
import { invalidRequest } from '../errors.ts'
import { type Caller, isTag } from '../history/caller.ts'
import type { RequestHeaders } from '../identity/request-headers.ts'
import { type Nano, parseUnits } from '../money.ts'
import { withoutMember } from '../wire/json/without.ts'
import type { Peek } from '../wire/request.ts'

export interface ReadOptions {
  readonly peek: Peek
  readonly options: RequestOptions
  /** The client asks what the request would cost, and not for the request to be made. */
  readonly isEstimate: boolean
}

/**
 * Reads `x-tollgate-cost`, `x-tollgate-max-cost`, `Idempotency-Key` and the body's `max_cost`, which is meant for the
 * gateway and removed from the body; `again` makes the peek of that new body. Throws GatewayError
 * `invalid_request_error` naming the field.
 */
export function readRequestOptions(
  headers: RequestHeaders,
  again: (body: Uint8Array) => Peek,
  peek: Peek,
  keyShowsCost: boolean,
): ReadOptions {
  const shown = headers.get('x-tollgate-cost')
  const ceiling = headers.get('x-tollgate-max-cost')
  const isEstimate = shown === 'estimate'
  const key = keyOf(headers.get('idempotency-key'))
  const options = {
    capNano: ceiling === null ? null : ceilingOf(ceiling, 'x-tollgate-max-cost'),
    showCost: shown === null || isEstimate ? keyShowsCost : readYes(shown),
    idempotencyKey: isEstimate ? null : key,
  }
  if (!peek.keys.includes('max_cost')) return { peek, options, isEstimate }
  const { bytes, value } = withoutMember(peek.body, 'max_cost') ?? { bytes: peek.body, value: '' }
  const rest = { ...again(bytes), dropped: peek.dropped ?? [] }
  if (value === 'null') return { peek: rest, options, isEstimate }
  const text = value.startsWith('"') ? value.slice(1, -1) : value
  return {
    peek: rest,
    options: { ...options, capNano: ceilingOf(text, 'max_cost') },
    isEstimate,
  }
}

/** Throws GatewayError `invalid_request_error` naming the header. */
export function checkTag({ tag }: Caller): void {
  if (tag == null || isTag(tag)) return
  const expected = 'one label of 1 to 64 letters, digits and . _ : / @ + = -'
  throw invalidRequest(`x-tollgate-tag must be ${expected}`, 'x-tollgate-tag')
}

function ceilingOf(text: string, name: string): Nano {
  const nano = parseUnits(text.trim())
  if (nano === null) {
    throw invalidRequest(
      `${name} must be a decimal of the currency with at most nine places, such as "0.05"`,
      name,
    )
  }
  return nano
}

function readYes(text: string): boolean {
  if (text === 'true') return true
  if (text === 'false') return false
  throw invalidRequest('x-tollgate-cost must be true, false or estimate', 'x-tollgate-cost')
}

function keyOf(text: string | null): string | null {
  if (text === null) return null
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text
  throw invalidRequest(
    'Idempotency-Key must be 1 to 255 printable characters without blanks',
    'Idempotency-Key',
  )
}
