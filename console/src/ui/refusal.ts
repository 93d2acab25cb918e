// What the control API refuses, in the reader's words, as text that stands beside a field.

import { i18n, type MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Problem } from '../api/client.ts'

/** By code and field, where these alone say what is wrong: without the places in lists, `models[1]`. */
const byField: ReadonlyMap<string, MessageDescriptor> = new Map([
  [
    'invalid name',
    msg`Expected 1 to 128 characters, none of them invisible, and no blank at the ends.`,
  ],
  [
    'invalid addresses',
    msg`Some of it is no address: expected an IP address, or a range such as 10.0.0.0/8.`,
  ],
  ['invalid expiresAt', msg`Expected a time that is still to come.`],
  ['invalid publicKey', msg`Expected a raw X25519 key in base64url.`],
  ['invalid monthMost', msg`Expected at least the amount of one top-up.`],
  ['invalid requestsPerMinute', msg`Expected a whole number above 0.`],
  ['invalid tokensPerMinute', msg`Expected a whole number above 0.`],
  ['invalid concurrentRequests', msg`Expected a whole number above 0.`],
  ['not_found account', msg`There is no such account.`],
  ['invalid confirm', msg`This is not the id of your account.`],
])

/** By code, where the field says too little; the API's own sentence follows. */
const byCode: ReadonlyMap<string, MessageDescriptor> = new Map([
  ['invalid', msg`This is not taken.`],
  ['not_found', msg`It is not there, or not any more.`],
  ['conflict', msg`What is there does not allow it.`],
])

/** By code, where that says all. */
const whole: ReadonlyMap<string, MessageDescriptor> = new Map([
  ['too_large', msg`The request is too large.`],
  ['limited', msg`Too many requests. Wait a moment, then try again.`],
  ['last_admin', msg`It is the last administrator: make another one first.`],
])

/** A refusal of what was typed or asked for; English where the API says more than its codes do. */
export function refusalText(error: Error): string {
  if (!(error instanceof Problem)) return error.message
  const { code, field, message } = error
  const known = byField.get(`${code} ${(field ?? '').replace(/\[\d+\]/g, '')}`) ?? whole.get(code)
  if (known !== undefined) return i18n._(known)
  const lead = byCode.get(code)
  if (lead === undefined || i18n.locale === 'en') return message
  return `${i18n._(lead)} (${message})`
}
