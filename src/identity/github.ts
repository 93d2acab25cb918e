// Sign-in by GitHub or GitHub Enterprise Server: OAuth with PKCE, and the person's profile from its API
// (docs.github.com, "Authorizing OAuth apps", and "REST API endpoints for users").

import {
  askJson,
  askText,
  askTokens,
  authorizationUrl,
  type IdentityProvider,
  type Profile,
  type ProviderClient,
  ProviderError,
  textOf,
} from './provider.ts'

interface GithubSettings {
  readonly id: string
  readonly name: string
  /** Of an Enterprise server; null: github.com. */
  readonly baseUrl: string | null
  readonly clientId: string
  readonly clientSecret: string
}

const site = 'https://github.com'
const siteApi = 'https://api.github.com'
const scope = 'read:user user:email'

export function createGithub(settings: GithubSettings, ask: ProviderClient): IdentityProvider {
  const { id, name, clientId, clientSecret, baseUrl } = settings
  const home = baseUrl ?? site
  const api = baseUrl === null ? siteApi : `${baseUrl}/api/v3`
  return {
    id,
    name,
    issuer: home,
    usesNonce: false,
    async authorizationUrl(departure) {
      return authorizationUrl(`${home}/login/oauth/authorize`, clientId, scope, departure)
    },
    // The state names the provider; GitHub's answers have no registered `iss` parameter to check.
    checkAnswerer: async () => undefined,
    async profile({ code, codeVerifier, redirectUri }) {
      const { accessToken } = await askTokens(ask, `${home}/login/oauth/access_token`, {
        client_id: clientId,
        client_secret: clientSecret,
        code,
        code_verifier: codeVerifier,
        redirect_uri: redirectUri,
      })
      return readProfile(ask, api, accessToken)
    },
  }
}

async function readProfile(
  ask: ProviderClient,
  api: string,
  accessToken: string,
): Promise<Profile> {
  const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/vnd.github+json' }
  const user = await askJson(ask, { method: 'GET', url: `${api}/user`, headers })
  // A login may be given to somebody else later; the id is permanent.
  if (typeof user['id'] !== 'number' || !Number.isSafeInteger(user['id']) || user['id'] <= 0)
    throw new ProviderError('refused', 'does not say who signed in')
  return {
    subject: String(user['id']),
    name: textOf(user['name']) ?? textOf(user['login']) ?? '',
    ...(await readEmail(ask, api, headers)),
  }
}

/** The primary address; null if the person does not share it. */
async function readEmail(
  ask: ProviderClient,
  api: string,
  headers: Readonly<Record<string, string>>,
) {
  const url = `${api}/user/emails`
  const { status, text } = await askText(ask, { method: 'GET', url, headers })
  const primary = status === 200 ? primaryOf(text) : undefined
  const email = textOf(primary?.['email'])
  return { email, emailVerified: email !== null && primary?.['verified'] === true }
}

function primaryOf(text: string) {
  try {
    const listed: unknown = JSON.parse(text)
    if (!Array.isArray(listed)) return undefined
    return listed.map(Object).find((each) => each['primary'] === true)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
