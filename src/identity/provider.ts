// The interface of identity providers, and functions that read their replies.

import { createHash } from 'node:crypto'

/** A person, as a provider describes them. */
export interface Profile {
  /** Identifies the person; the provider never reuses it for anybody else. */
  readonly subject: string
  /** Empty if the provider gives none. */
  readonly name: string
  readonly email: string | null
  readonly emailVerified: boolean
}

/** Parameters of the request that a person takes to the provider, which its answer must match. */
interface Departure {
  readonly state: string
  readonly nonce: string | undefined
  readonly codeVerifier: string
  readonly redirectUri: string
}

/** What a person brings back from the provider. */
export interface Arrival {
  readonly code: string
  readonly codeVerifier: string
  readonly redirectUri: string
}

interface ProviderTokens {
  readonly accessToken: string
  readonly idToken: string | null
}

/** All methods throw ProviderError. */
export interface IdentityProvider {
  /** Id from the configuration, used in URLs. */
  readonly id: string
  /** Name on the sign-in button. */
  readonly name: string
  /** Identifies a person together with the subject. */
  readonly issuer: string
  /** Whether its ID tokens are bound to a sign-in by a nonce. */
  readonly usesNonce: boolean
  authorizationUrl(departure: Departure): Promise<URL>
  /** Checks that the answer is this provider's: `iss` is the parameter of the answer, null if it has none. */
  checkAnswerer(iss: string | null): Promise<void>
  /** `nonce`: the nonce of this sign-in. */
  profile(arrival: Arrival, nonce: string | undefined): Promise<Profile>
}

/** `away`: the provider does not answer properly; `refused`: it said no, or its answer cannot be trusted. */
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

/** Sends one request, limited in size and time. Rejects unless a complete reply arrives. */
export type ProviderClient = (
  question: ProviderQuestion,
) => Promise<{ readonly status: number; readonly text: string }>

export type JsonObject = Readonly<Record<string, unknown>>

/** The URL to which a person is sent, for the code flow with PKCE (RFC 7636). */
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

/** Throws ProviderError if no reply arrives. */
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

/** The JSON object in a provider's reply. Throws ProviderError, also for any status other than 200. */
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

/** A non-empty text in a reply; null if there is none. */
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
  // The access token goes into a header of the next call.
  if (accessToken === null || !/^[\x21-\x7e]+$/.test(accessToken))
    throw new ProviderError('refused', 'did not take the code')
  return { accessToken, idToken: textOf(reply['id_token']) }
}
