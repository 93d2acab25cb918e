// Refusals of the control API in the reader's language, as text beside a field.

import { i18n, type MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Problem, type Reason } from '../api/client.ts'

/** By code and field, if these alone say what is wrong: without positions in lists, `models[1]`. */
const byField: ReadonlyMap<string, MessageDescriptor> = new Map([
  [
    'invalid name',
    msg`Write 1 to 128 visible characters, without a space at the start or the end.`,
  ],
  [
    'invalid addresses',
    msg`One of these is not an address. Write IP addresses, or ranges such as 10.0.0.0/8.`,
  ],
  ['invalid expiresAt', msg`Choose a time in the future.`],
  ['invalid publicKey', msg`Write an X25519 public key in base64url.`],
  ['invalid monthMost', msg`Write at least the amount of one top-up.`],
  ['invalid requestsPerMinute', msg`Expected a whole number above 0.`],
  ['invalid tokensPerMinute', msg`Expected a whole number above 0.`],
  ['invalid concurrentRequests', msg`Expected a whole number above 0.`],
  ['not_found account', msg`There is no such account.`],
  [
    'invalid interval',
    msg`The interval is too fine for this range: choose a longer interval, or a shorter range.`,
  ],
  ['invalid confirm', msg`This is not the id of your account.`],
])

const byReason: Readonly<Record<Reason, MessageDescriptor>> = {
  balance_left: msg`Money is left in the account: agree to give it up first.`,
  built_in: msg`It is built in and cannot be removed.`,
  changed_meanwhile: msg`Somebody else changed this meanwhile. Load it again, then make your change.`,
  code_expired: msg`This code has expired.`,
  code_revoked: msg`This code was revoked by the operator.`,
  code_unknown: msg`There is no such code. Look for a mistyped letter.`,
  code_used: msg`This code was redeemed before.`,
  day_not_over: msg`This day is not over in China yet.`,
  disputed: msg`The payment is disputed: its provider refunds nothing.`,
  in_configuration_file: msg`It is set in the configuration file: change it there.`,
  in_use: msg`It is still in use.`,
  invitation_used: msg`This invitation was used already.`,
  key_disabled: msg`The playground’s key of this group is disabled: enable it, or choose another group.`,
  last_admin: msg`It is the last administrator: make another one first.`,
  last_identity: msg`It is the only way into this account: link another one first.`,
  mail_code_wrong: msg`It is not the code that was mailed last, or it is too old.`,
  name_taken: msg`This name is taken already.`,
  no_mail_server: msg`This deployment has no mail server.`,
  not_paid: msg`Nothing of this order was paid.`,
  order_closed: msg`This order is closed already and cannot be cancelled.`,
  provider_unreachable: msg`The payment service cannot be reached now. Try again in a moment.`,
  range_too_long: msg`This time range is too long. Choose a shorter one.`,
  refund_held: msg`Requests that are running hold this money. Try again when they have ended.`,
  refund_too_large: msg`This is more than can still be refunded.`,
  sign_in_again: msg`Sign in again first: your sign-in is too long ago for this.`,
}

/** The API's sentence contains names or an amount that the reader needs, so it follows. */
const withDetail: ReadonlySet<Reason> = new Set(['in_use', 'refund_too_large'])

/** By code, if the field does not say enough; the API's own sentence follows. */
const byCode: ReadonlyMap<string, MessageDescriptor> = new Map([
  ['invalid', msg`This value is not accepted.`],
  ['not_found', msg`It does not exist any more, or never did.`],
  ['conflict', msg`The current state does not allow this.`],
])

/** By code, if that says everything. */
const whole: ReadonlyMap<string, MessageDescriptor> = new Map([
  ['too_large', msg`The request is too large.`],
  ['limited', msg`Too many requests. Wait a moment, then try again.`],
])

/** The refusal of an input or an action; English if the API says more than its codes do. */
export function refusalText(error: Error): string {
  if (!(error instanceof Problem)) return error.message
  const { code, field, message, reason } = error
  if (reason !== null) {
    const text = i18n._(byReason[reason])
    return withDetail.has(reason) ? `${text} (${plainMessage(error)})` : text
  }
  const known = byField.get(`${code} ${(field ?? '').replace(/\[\d+\]/g, '')}`) ?? whole.get(code)
  if (known !== undefined) return i18n._(known)
  const lead = byCode.get(code)
  // What is missing is named by the sentence; its field, an id of the address, says nothing to the reader.
  const said = code === 'not_found' ? plainMessage(error) : message
  if (lead !== undefined && i18n.locale !== 'en') return `${i18n._(lead)} (${said})`
  return code === 'not_found' ? said.charAt(0).toUpperCase() + said.slice(1) : said
}

/** Without the API's field name before it. */
function plainMessage({ field, message }: Problem): string {
  return field !== null && message.startsWith(`${field}: `)
    ? message.slice(field.length + 2)
    : message
}
