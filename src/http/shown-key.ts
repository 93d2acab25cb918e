// Finds the key in a refused request, in whatever header or parameter: to explain the mistake, never to admit anybody.

import { presentedSecret } from '../identity/authenticate.ts'
import type { RecognisedKey } from '../identity/recognise.ts'
import type { RequestHeaders } from '../identity/request-headers.ts'
import { managementPrefix, secretLength, secretPrefix } from '../identity/secret.ts'
import type { ClientRequest } from '../operations/operation.ts'

type KeyMistake =
  | 'key_missing'
  | 'key_unknown'
  | 'key_misplaced'
  | 'key_padded'
  | 'key_damaged'
  | 'key_is_management'
  | 'key_disabled'
  | 'key_expired'
  | 'account_closed'

interface ShownKey {
  /** null: the key is not known. */
  readonly key: RecognisedKey | null
  /** null: nothing is wrong with the key. */
  readonly mistake: KeyMistake | null
  readonly detail: string
}

export type Recognise = (secret: string) => RecognisedKey | null

/** Followed by a placeholder in pointed brackets, which no filter of secrets takes for a key. */
const usual = 'Authorization: Bearer'
/** Most values of a request that are tried as keys: each costs a hash. */
const mostCandidates = 8
const longestShown = 1_024
/** Names of headers and query parameters that a key may have been put into. */
const keyName = /auth|key|token|secret/i

/** Looks each candidate up among all keys: for refusals only. */
export function shownKey(
  { headers, url }: Pick<ClientRequest, 'headers' | 'url'>,
  recognise: Recognise,
): ShownKey {
  const shown = presentedSecret(headers)
  if (shown !== null && shown !== '') return usuallyShown(shown, recognise)
  for (const { place, value } of candidates(headers, url)) {
    const key = recognise(unpadded(value))
    if (key === null) continue
    const detail = `The key was sent in ${place}, where the gateway does not look for it. Send it as "${usual} <your key>".`
    return { key, mistake: 'key_misplaced', detail }
  }
  const detail = `The request has no API key. Send it as "${usual} <your key>".`
  return { key: null, mistake: 'key_missing', detail }
}

function usuallyShown(shown: string, recognise: Recognise): ShownKey {
  if (shown.length > longestShown) {
    const detail = `The text sent as the key has ${shown.length} characters, far more than any key.`
    return { key: null, mistake: 'key_unknown', detail }
  }
  const key = recognise(shown)
  if (key !== null && key.state !== 'damaged') return ofState(key)
  const bare = unpadded(shown)
  const inside = bare === shown ? null : recognise(bare)
  if (inside !== null && inside.state !== 'damaged') {
    const detail =
      'Quotes, brackets, blanks or a second "Bearer" are around the key. Send the key alone.'
    return { key: inside, mistake: 'key_padded', detail }
  }
  const like = key ?? inside
  if (like !== null) return { key: like, mistake: 'key_damaged', detail: damaged(bare) }
  if (bare.startsWith(managementPrefix)) {
    const detail =
      'This is a management key, which works for /api and cannot call models. Send an API key.'
    return { key: null, mistake: 'key_is_management', detail }
  }
  return { key: null, mistake: 'key_unknown', detail: unknown(bare) }
}

function damaged(shown: string): string {
  const made = shown.startsWith(secretPrefix)
  if (made && shown.length < secretLength) {
    return `The key is cut off: it has ${shown.length} of ${secretLength} characters. Copy all of it.`
  }
  if (made && shown.length > secretLength) {
    return `The key is too long: it has ${shown.length} characters instead of ${secretLength}. Copy it again.`
  }
  return 'The key begins like yours but then differs: it is mistyped, or was replaced by a rotation.'
}

function unknown(shown: string): string {
  if (!shown.startsWith(secretPrefix)) {
    return `This is not a key of this gateway: its keys begin with ${secretPrefix}. Perhaps a variable was not filled in, or it is a vendor's key.`
  }
  return "The key has the form of this gateway's keys but is unknown: it was deleted, or belongs to another server."
}

const states = {
  disabled: ['key_disabled', 'The key is disabled. Enable it, or use another one.'],
  expired: ['key_expired', 'The key has expired, or was replaced by a rotation.'],
  closed: ['account_closed', "The key's account is suspended."],
} as const

function ofState(key: RecognisedKey): ShownKey {
  if (key.state === 'valid' || key.state === 'damaged') return { key, mistake: null, detail: '' }
  const [mistake, detail] = states[key.state]
  return { key, mistake, detail }
}

/** Removes surrounding quotes, brackets, blanks and words such as `Bearer`. */
function unpadded(shown: string): string {
  return shown
    .replace(/^(?:(?:bearer|token|basic|key|apikey)[\s:=]+|["'`<({[\s])+/i, '')
    .replace(/["'`>)}\]\s,;]+$/, '')
}

function candidates(headers: RequestHeaders, url: string) {
  const found: { readonly place: string; readonly value: string }[] = []
  const add = (place: string, name: string, value: string) => {
    if (found.length >= mostCandidates || value.length > longestShown) return
    if (keyName.test(name) || value.startsWith(secretPrefix)) found.push({ place, value })
  }
  for (const [name, value] of headers) {
    add(
      name === 'authorization'
        ? 'Authorization without "Bearer"'
        : `the header ${name.slice(0, 40)}`,
      name,
      value,
    )
  }
  const query = url.indexOf('?')
  if (query >= 0) {
    for (const [name, value] of new URLSearchParams(url.slice(query))) add('the URL', name, value)
  }
  return found
}
