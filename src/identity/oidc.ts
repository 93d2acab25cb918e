// OpenID Connect (Core 1.0, Discovery 1.0, RFC 9207): the code flow with PKCE, with complete checks of the ID token.

import { Buffer } from 'node:buffer'
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import {
  type Arrival,
  askJson,
  askTokens,
  authorizationUrl,
  type IdentityProvider,
  type JsonObject,
  type Profile,
  type ProviderClient,
  ProviderError,
  textOf,
} from './provider.ts'

interface OidcSettings {
  readonly id: string
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The provider's discovery document, as far as it is needed. */
interface Discovered {
  readonly authorizationEndpoint: string
  readonly tokenEndpoint: string
  readonly userinfoEndpoint: string | null
  readonly jwksUri: string
  readonly takesBasic: boolean
  readonly sendsIssuer: boolean
}

/** A provider's discovery document and keys are fetched again after this time. */
const freshMs = 3_600_000
/** An unknown key causes the keys to be fetched again, but no more often than this. */
const keyPauseMs = 10_000
const clockToleranceSeconds = 60
const scope = 'openid profile email'
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
]

export function createOidc(
  settings: OidcSettings,
  ask: ProviderClient,
  now: () => number = Date.now,
): IdentityProvider {
  const { id, name, issuer, clientId } = settings
  const discovery = cached(freshMs, now, () => discover(ask, issuer))
  const keys = cached(freshMs, now, async () => askKeys(ask, (await discovery.get()).jwksUri))
  const verify = async (idToken: string, nonce: string) => {
    try {
      return await verified(idToken, await keys.get(), settings, nonce)
    } catch (error) {
      // Providers change their keys from time to time.
      if (!(error instanceof errors.JWKSNoMatchingKey) || keys.ageMs() < keyPauseMs) throw error
      keys.drop()
      return verified(idToken, await keys.get(), settings, nonce)
    }
  }
  return {
    id,
    name,
    issuer,
    usesNonce: true,
    async authorizationUrl(departure) {
      return authorizationUrl(
        (await discovery.get()).authorizationEndpoint,
        clientId,
        scope,
        departure,
      )
    },
    async checkAnswerer(iss) {
      const isExpected = iss === null ? !(await discovery.get()).sendsIssuer : iss === issuer
      if (!isExpected) throw new ProviderError('refused', 'is not who answered')
    },
    async profile(arrival, nonce) {
      const found = await discovery.get()
      const { idToken, accessToken } = await tokensFor(ask, found, settings, arrival)
      if (idToken === null || nonce === undefined)
        throw new ProviderError('refused', 'sent no ID token')
      const claims = await verify(idToken, nonce).catch(refuseToken)
      // Some providers leave name and e-mail out of the ID token.
      const isWhole = claims['email'] !== undefined || found.userinfoEndpoint === null
      const more = isWhole ? {} : await userinfo(ask, found.userinfoEndpoint, accessToken, claims)
      return profileOf({ ...more, ...claims })
    },
  }
}

/** Caches a value for a while; a failure is not cached. */
function cached<Value>(keepMs: number, now: () => number, read: () => Promise<Value>) {
  let kept: { readonly value: Promise<Value>; readonly at: number } | null = null
  return {
    get(): Promise<Value> {
      if (kept === null || now() - kept.at > keepMs) {
        const entry = { value: read(), at: now() }
        kept = entry
        entry.value.catch(() => {
          if (kept === entry) kept = null
        })
      }
      return kept.value
    },
    ageMs: () => (kept === null ? 0 : now() - kept.at),
    drop() {
      kept = null
    },
  }
}

async function discover(ask: ProviderClient, issuer: string): Promise<Discovered> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await askJson(ask, { method: 'GET', url, headers: {} })
  // Otherwise one provider could impersonate another (Discovery, section 4.3).
  if (document['issuer'] !== issuer)
    throw new ProviderError('refused', `says it is another issuer than ${issuer}`)
  const methods = document['token_endpoint_auth_methods_supported']
  return {
    authorizationEndpoint: endpoint(document, 'authorization_endpoint'),
    tokenEndpoint: endpoint(document, 'token_endpoint'),
    userinfoEndpoint:
      document['userinfo_endpoint'] === undefined ? null : endpoint(document, 'userinfo_endpoint'),
    jwksUri: endpoint(document, 'jwks_uri'),
    takesBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
    sendsIssuer: document['authorization_response_iss_parameter_supported'] === true,
  }
}

function endpoint(document: JsonObject, name: string): string {
  const value = textOf(document[name])
  if (value !== null && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))
    return value
  throw new ProviderError('away', `names no ${name}`)
}

async function askKeys(ask: ProviderClient, url: string) {
  const document = await askJson(ask, { method: 'GET', url, headers: {} })
  try {
    return createLocalJWKSet(document as unknown as JSONWebKeySet)
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw new ProviderError('away', 'publishes keys that cannot be read')
    throw error
  }
}

function tokensFor(
  ask: ProviderClient,
  { tokenEndpoint, takesBasic }: Discovered,
  { clientId, clientSecret }: OidcSettings,
  { code, codeVerifier, redirectUri }: Arrival,
) {
  const fields = {
    grant_type: 'authorization_code',
    code,
    code_verifier: codeVerifier,
    redirect_uri: redirectUri,
  }
  if (!takesBasic)
    return askTokens(ask, tokenEndpoint, {
      ...fields,
      client_id: clientId,
      client_secret: clientSecret,
    })
  // RFC 6749, section 2.3.1: both parts are first encoded as form values.
  const pair = [clientId, clientSecret].map(encodeURIComponent).join(':')
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  return askTokens(ask, tokenEndpoint, fields, { authorization })
}

async function verified(
  idToken: string,
  keys: ReturnType<typeof createLocalJWKSet>,
  { issuer, clientId }: OidcSettings,
  nonce: string,
): Promise<JWTPayload> {
  const { payload } = await jwtVerify(idToken, keys, {
    issuer,
    audience: clientId,
    algorithms,
    clockTolerance: clockToleranceSeconds,
    requiredClaims: ['sub', 'exp', 'iat'],
  })
  if (payload['nonce'] !== nonce)
    throw new ProviderError('refused', 'sent a token of another sign-in')
  const { aud, azp } = { aud: payload.aud, azp: payload['azp'] }
  // Core, section 3.1.3.7: with several audiences, the authorized party must be this client.
  if ((Array.isArray(aud) && aud.length > 1) || azp !== undefined) {
    if (azp !== clientId) throw new ProviderError('refused', 'sent a token for another client')
  }
  return payload
}

function refuseToken(error: unknown): never {
  if (error instanceof errors.JOSEError)
    throw new ProviderError('refused', `sent an ID token that does not hold: ${error.code}`)
  throw error
}

async function userinfo(
  ask: ProviderClient,
  url: string | null,
  accessToken: string,
  { sub }: JWTPayload,
): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${accessToken}` }
  const claims = await askJson(ask, { method: 'GET', url: url ?? '', headers })
  if (claims['sub'] !== sub) throw new ProviderError('refused', 'speaks of another person')
  return claims
}

function profileOf(claims: JsonObject): Profile {
  const subject = textOf(claims['sub'])
  if (subject === null) throw new ProviderError('refused', 'does not say who signed in')
  const email = textOf(claims['email'])
  return {
    subject,
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']) ?? '',
    email,
    emailVerified: email !== null && claims['email_verified'] === true,
  }
}
