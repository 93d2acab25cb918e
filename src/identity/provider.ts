// What a provider of identities is, and how its replies are read.

import { createHash } from 'node:crypto'

/** Who somebody is, as a provider says. */
export interface Profile {
  /** What the provider never gives to anybody else. */
  readonly subject: string
  /** Empty where it says none. */
  readonly name: string
  readonly email: string | null
  readonly emailVerified: boolean
}

/** Where a person is sent, and what the provider must answer by. */
interface Departure {
  readonly state: string
  readonly nonce: string | undefined
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** What a person comes back with. */
export interface Arrival {
  readonly code: string
  readonly codeVerifier: string
  readonly redirectUri: string
}

interface ProviderTokens {
  readonly accessToken: string
  readonly idToken: string | null
}

/** All calls throw ProviderError. */
export interface IdentityProvider {
  /** Of the configuration; in addresses. */
  readonly id: string
  /** On the button. */
  readonly name: string
  /** With the subject, what an identity is known by. */
  readonly issuer: string
  /** Its ID tokens are bound to a sign-in by a nonce. */
  readonly usesNonce: boolean
  authorizationUrl(departure: Departure): Promise<URL>
  /** Checks who says that a person comes back from there: the `iss` of the answer, null where it has none. */
  checkAnswerer(iss: string | null): Promise<void>
  /** `nonce`: the one of this sign-in. */
  profile(arrival: Arrival, nonce: string | undefined): Promise<Profile>
}

/** `away`: it does not answer as it should; `refused`: what it answered is not to be believed, or it said no. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly kind: 'away' | 'refused'

  constructor(kind: 'away' | 'refused', message: string) {
    super(message)
    this.kind = kind
  }
}

interface ProviderQuestion {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends one request; bounded in size and time. Rejects where no whole reply comes. */
export type ProviderClient = (
  question: ProviderQuestion,
) => Promise<{ readonly status: number; readonly text: string }>

export type JsonObject = Readonly<Record<string, unknown>>

/** Where a person is sent: the code flow with PKCE (RFC 7636). */
export function authorizationUrl(
  address: string,
  clientId: string,
  scope: string,
  { state, nonce, codeVerifier, redirectUri }: Departure,
): URL {
  const url = new URL(address)
  const fields = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
  }
  for (const [field, value] of Object.entries(fields)) url.searchParams.set(field, value)
  return url
}

/** Throws ProviderError where no reply comes. */
export function askText(
  ask: ProviderClient,
  question: ProviderQuestion,
): ReturnType<ProviderClient> {
  return ask({ ...question, headers: { accept: 'application/json', ...question.headers } }).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new ProviderError('away', `cannot be reached: ${reason}`)
    },
  )
}

/** The JSON object that a provider answers with. Throws ProviderError, for any status but 200 too. */
export async function askJson(
  ask: ProviderClient,
  question: ProviderQuestion,
): Promise<JsonObject> {
  const { status, text } = await askText(ask, question)
  if (status >= 500 || status === 429) throw new ProviderError('away', `answered ${status}`)
  if (status !== 200) throw new ProviderError('refused', `answered ${status}`)
  const value = parseJson(text)
  if (value === null)
    throw new ProviderError('away', 'answered with something else than a JSON object')
  return value
}

function parseJson(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A text of the reply that is not empty; null where there is none. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Exchanges a code for tokens. Throws ProviderError. */
export async function askTokens(
  ask: ProviderClient,
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<ProviderTokens> {
  const body = new URLSearchParams(fields).toString()
  const reply = await askJson(ask, { method: 'POST', url, headers: { ...form, ...headers }, body })
  const accessToken = textOf(reply['access_token'])
  // An access token stands in a header of the next call.
  if (accessToken === null || !/^[\x21-\x7e]+$/.test(accessToken))
    throw new ProviderError('refused', 'did not take the code')
  return { accessToken, idToken: textOf(reply['id_token']) }
}
