// Configures better-auth for our providers, cookies and tables. Loads the library: imported at the first sign-in.

import { randomBytes } from 'node:crypto'
import { createAuthEndpoint, getOAuthState } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { betterAuth } from 'better-auth/minimal'
import type { BetterAuthPlugin } from 'better-auth/types'
import { z } from 'zod'
import { currentAttempt, noting } from './attempt.ts'
import { type AuthStore, authAdapter, type SignUpRules } from './auth-adapter.ts'
import type { IdentityProvider } from './provider.ts'
import { SignInRefused } from './refusal.ts'
import { randomBase62 } from './secret.ts'
import { cookieNames, longestMs } from './session-cookie.ts'

export interface AuthOptions {
  readonly store: AuthStore
  /** Secret that signs cookies. */
  readonly secret: string
  readonly signUp: () => Promise<SignUpRules>
}

export const authPath = '/api/auth'
/** The library redirects here when a sign-in fails; the redirect is caught and never reaches a browser. */
export const failurePath = `${authPath}/failed`

const tokenBytes = 32

/** The library's operations: beginning a sign-in or a link, handling a provider's answer, and signing in an account. */
export type Auth = ReturnType<typeof createAuth>

export function createAuth(
  { store, secret, signUp }: AuthOptions,
  origin: string,
  providers: readonly IdentityProvider[],
) {
  const cookies = cookieNames(origin)
  const attributes = { secure: cookies.secure, httpOnly: true, sameSite: 'lax', path: '/' } as const
  const plugin = providersPlugin(providers, (id) => `${origin}${authPath}/callback/${id}`)
  return betterAuth({
    baseURL: origin,
    basePath: authPath,
    secret,
    trustedOrigins: [origin],
    database: authAdapter({ store, signUp }),
    session: { expiresIn: longestMs / 1_000, disableSessionRefresh: true },
    account: {
      storeStateStrategy: 'database',
      // An e-mail address proves nothing: only the signed-in person may link further identities.
      accountLinking: {
        enabled: true,
        disableImplicitLinking: true,
        allowDifferentEmails: true,
        trustedProviders: providers.map(({ id }) => id),
      },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    // The library's log could contain codes and tokens; failures are recorded in the attempt instead.
    logger: { disabled: true },
    onAPIError: { throw: true, errorURL: `${origin}${failurePath}` },
    databaseHooks: {
      session: {
        create: {
          // The library's own token has 190 bits.
          before: async () => ({ data: { token: randomBytes(tokenBytes).toString('base64url') } }),
        },
      },
    },
    advanced: {
      useSecureCookies: false,
      disableCSRFCheck: true,
      database: {
        generateId: ({ model }) => (model === 'user' ? 'account_' : '') + randomBase62(16),
      },
      cookies: {
        session_token: { name: cookies.session, attributes },
        state: { name: cookies.state, attributes },
      },
    },
    plugins: [plugin, sessionPlugin],
  })
}

const signInBody = z.object({ account: z.string() })

/** Signs in an account that has proved its identity in another way. Has no path, so only this process can call it. */
const sessionPlugin = {
  id: 'tollgate-session',
  endpoints: {
    signInAccount: createAuthEndpoint(
      { method: 'POST', body: signInBody, requireHeaders: true },
      async (context) => {
        const { account } = context.body
        const user = await context.context.internalAdapter.findUserById(account)
        if (user === null) throw new SignInRefused('account_closed', 'This account is gone.')
        const session = await context.context.internalAdapter.createSession(account)
        await setSessionCookie(context, { session, user })
        return null
      },
    ),
  },
} satisfies BetterAuthPlugin

function providersPlugin(
  providers: readonly IdentityProvider[],
  redirectUri: (id: string) => string,
): BetterAuthPlugin {
  const socialProviders = providers.map((provider) =>
    asSocialProvider(provider, redirectUri(provider.id)),
  )
  return { id: 'tollgate-providers', init: () => ({ context: { socialProviders } }) }
}

/** Presents one of our providers to the library, which keeps state and nonce; ours talks to the provider. */
function asSocialProvider(provider: IdentityProvider, redirectUri: string) {
  return {
    id: provider.id,
    name: provider.name,
    requiresIdTokenNonce: provider.usesNonce,
    accountSubject: ({ profile }: { readonly profile: object }) =>
      String(Object(profile)['subject']),
    createAuthorizationURL: (departure: Departed) =>
      noting(() =>
        provider.authorizationUrl({
          state: departure.state,
          nonce: departure.idTokenNonce,
          codeVerifier: departure.codeVerifier,
          redirectUri,
        }),
      ),
    validateAuthorizationCode: ({ code, codeVerifier = '' }: Returned) =>
      noting(async () => {
        const state = await getOAuthState()
        // Otherwise an answer of one provider could finish a sign-in begun at another.
        if (state?.['provider'] !== provider.id)
          throw new SignInRefused('invalid_state', 'This sign-in was begun at another provider.')
        const profile = await provider.profile(
          { code, codeVerifier, redirectUri },
          state.idTokenNonce as string | undefined,
        )
        currentAttempt().profile = { ...profile, issuer: provider.issuer }
        // The provider's access tokens are not needed, and not stored.
        return {}
      }),
    async getUserInfo() {
      const { profile } = currentAttempt()
      if (profile === null) return null
      const { name, email, emailVerified } = profile
      return { user: { name, email: email ?? 'nobody@invalid', emailVerified }, data: profile }
    },
  }
}

interface Departed {
  readonly state: string
  readonly codeVerifier: string
  readonly idTokenNonce?: string | undefined
}

interface Returned {
  readonly code: string
  readonly codeVerifier?: string | undefined
}
