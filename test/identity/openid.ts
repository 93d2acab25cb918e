// A real OpenID provider (oidc-provider) for tests: the person that the test names is signed in there without any
// prompt.

import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider, { type Context } from 'oidc-provider'

export interface OpenidPerson {
  readonly sub: string
  readonly name?: string
  readonly email?: string
  readonly email_verified?: boolean
}

export interface OpenidProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The person at the browser; null: they refuse. */
  person: OpenidPerson | null
  /** Changes the claims that the provider signs. */
  sign(claims: JWTPayload, key?: 'foreign'): Promise<string>
  close(): Promise<void>
}

const clientSecret = 'secret-of-the-gateway-at-its-provider'

/** `redirectUri` is the only one that it accepts. */
export async function startOpenid(clientId: string, redirectUri: string): Promise<OpenidProvider> {
  const own = await generateKeyPair('RS256', { extractable: true })
  const foreign = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(own.privateKey)), kid: 'own', alg: 'RS256', use: 'sig' }
  let listener: RequestListener = () => undefined
  const server = createServer((request, response) => listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stage: OpenidProvider = {
    issuer,
    clientId,
    clientSecret,
    person: null,
    sign: (claims, key) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'own' })
        .sign(key === 'foreign' ? foreign.privateKey : own.privateKey),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [jwk] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a key for cookies of tests'] },
    features: { devInteractions: { enabled: false } },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...stage.person, sub: id }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  })
  provider.use((context, next) => finishInteraction(provider, stage, context, next))
  listener = provider.callback()
  return stage
}

async function finishInteraction(
  provider: Provider,
  { clientId, person }: OpenidProvider,
  { path, req, res }: Context,
  next: () => Promise<void>,
): Promise<void> {
  if (!path.startsWith('/interaction/')) return next()
  if (person === null) {
    await provider.interactionFinished(req, res, { error: 'access_denied' })
    return
  }
  const { sub } = person
  const grant = new provider.Grant({ accountId: sub, clientId })
  grant.addOIDCScope('openid profile email')
  const grantId = await grant.save()
  await provider.interactionFinished(req, res, { login: { accountId: sub }, consent: { grantId } })
}
