// Translates the server's reasons why a channel is not used.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Shape } from '../api/client.ts'

type Reason = NonNullable<Shape<'Channel'>['reason']>

const words: Readonly<Record<Reason, MessageDescriptor>> = {
  breaker: msg`it failed too often lately`,
  rate_limited: msg`its vendor limits its rate`,
  quota: msg`its credit at the vendor is used up`,
  credentials: msg`its vendor refuses the key`,
  busy: msg`as much is under way as it may have`,
  failing: msg`it failed lately`,
}

/** A reason that this console does not know is shown unchanged. */
export function reasonText(reason: string, t: (word: MessageDescriptor) => string): string {
  return Object.hasOwn(words, reason) ? t(words[reason as Reason]) : reason
}

/** By the sentences of a preview of routing. */
const previewWords: Readonly<Record<string, MessageDescriptor>> = {
  'failed too often lately': msg`failed too often lately`,
  'its vendor limits its rate': msg`its vendor limits its rate`,
  'has no credit at its vendor': msg`has no credit at its vendor`,
  'its vendor refuses its key': msg`its vendor refuses the key`,
  'has as much under way as it may': msg`as much is under way as it may have`,
  'is not served': msg`does not serve this model`,
  'is draining': msg`is draining`,
  'is disabled': msg`is disabled`,
  'has no key in use': msg`has no key in use`,
  'does not serve the group': msg`does not serve the group`,
}

/** Why a preview leaves the channel out; the usual reasons are translated. */
export function previewReasonText(reason: string, t: (word: MessageDescriptor) => string): string {
  return Object.hasOwn(previewWords, reason) ? t(previewWords[reason] as MessageDescriptor) : reason
}
