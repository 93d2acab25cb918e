// Sign-in behind a small server, with two OpenID providers and a GitHub stub, and a browser to use them.

import { createIdentity } from '../../src/identity/identity.ts'
import type { ProviderClient } from '../../src/identity/provider.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { ask } from '../../src/upstream/ask.ts'
import { createDialer } from '../../src/upstream/dial.ts'
import { makeDirectory } from '../contract/databases.ts'
import type { Browser } from './browser.ts'
import { type GithubStub, startGithub } from './github.ts'
import { type OpenidProvider, startOpenid } from './openid.ts'

const { loadConfiguration } = await import('../../src/admin/configuration.ts')
const silent = await loadConfiguration({ flags: {}, env: {} })

type Tamper = (
  question: Parameters<ProviderClient>[0],
  ask: ProviderClient,
) => ReturnType<ProviderClient>

export interface Stage {
  readonly url: string
  readonly store: Store
  readonly one: OpenidProvider
  readonly two: OpenidProvider
  readonly github: GithubStub
  /** What is between the gateway and a provider. */
  tamper: Tamper
  mode: 'open' | 'invite' | 'closed'
  /** Milliseconds that an attempt must wait. */
  waitMs: number | null
  /** Networks whose attempts were counted. */
  readonly networks: string[]
  /** The caller's address. */
  address: string | null
  /** Signs in; returns the gateway's last reply. */
  signIn(browser: Browser, provider: string, query?: string): Promise<Response>
  /** The address to which a provider sends the browser back. */
  callback(browser: Browser, provider: string, query?: string): Promise<string>
  /** The account of the browser's session; null: none. */
  who(browser: Browser): Promise<{ account: string; role: string; sessionId: string } | null>
  close(): Promise<void>
}

/** A short form of what the control API does. */
function awayReply(error: unknown): Response {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return new Response(code, { status: 503 })
}

export const honest: Tamper = (question, real) => real(question)

const githubClient = { clientId: 'gateway-at-github', clientSecret: 'github-secret-of-tests' }

function providersOf(openids: readonly OpenidProvider[], { baseUrl }: GithubStub) {
  const usual = { kind: null, name: null, issuer: null, baseUrl: null }
  return [
    ...openids.map(({ issuer, clientId, clientSecret }, index) => ({
      ...usual,
      id: index === 0 ? 'one' : 'two',
      kind: 'oidc' as const,
      issuer,
      clientId,
      clientSecret,
    })),
    { ...usual, id: 'github', baseUrl, ...githubClient },
  ]
}

export async function setStage(): Promise<Stage> {
  const directory = makeDirectory()
  const store = await openStore({ dataDir: directory.path, databaseUrl: null })
  const dialer = createDialer()
  const real: ProviderClient = (question) =>
    ask({ dialer, maxBytes: 65_536, timeoutMs: 2_000 }, question)
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => answer(request) })
  const url = `http://127.0.0.1:${server.port}`
  const one = await startOpenid('gateway-at-one', `${url}/api/auth/callback/one`)
  const two = await startOpenid('gateway-at-two', `${url}/api/auth/callback/two`)
  const github = startGithub(githubClient)
  const providers = providersOf([one, two], github)
  const config = { ...silent, identity: { ...silent.identity, providers } }
  const stage: Stage = {
    url,
    store,
    one,
    two,
    github,
    tamper: honest,
    mode: 'open',
    waitMs: null,
    networks: [],
    address: '192.0.2.7',
    async callback(browser, provider, query = '') {
      const begin = `${url}/api/auth/sign-in/${provider}${query}`
      return browser.until(`${url}/api/auth/callback/`, begin)
    },
    async signIn(browser, provider, query) {
      return browser.go(await this.callback(browser, provider, query))
    },
    who: async (browser) => (await browser.go(`${url}/who`)).json(),
    async close() {
      await Promise.all([server.stop(true), one.close(), two.close(), github.close()])
      dialer.close()
      await store.close()
      directory.remove()
    },
  }
  const identity = createIdentity({
    store,
    config: () => config,
    secret: 'a secret of tests that is long enough to sign cookies',
    signUp: async () => ({ mode: stage.mode, group: 'default' }),
    ask: (question) => stage.tamper(question, real),
    async attempt(network) {
      stage.networks.push(network)
      return stage.waitMs
    },
    onLinkUsed: async () => undefined,
  })
  const answer = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname.startsWith('/api/auth/'))
      return identity.handler(request, stage.address, 'req_test').catch(awayReply)
    return Response.json(await identity.sessionOf(request.headers))
  }
  return stage
}
