// A stub of GitHub's OAuth (docs.github.com, "Authorizing OAuth apps"): codes that work once, PKCE, and its two reading
// endpoints.

import { createHash, randomUUID } from 'node:crypto'

interface GithubPerson {
  readonly id: number
  readonly login: string
  readonly name: string | null
  readonly emails: readonly { email: string; primary: boolean; verified: boolean }[] | null
}

export interface GithubStub {
  /** Like GitHub Enterprise Server. */
  readonly baseUrl: string
  person: GithubPerson
  /** Codes not used yet. */
  readonly codes: ReadonlyMap<string, string>
  close(): Promise<void>
}

export const octo: GithubPerson = {
  id: 583_231,
  login: 'octo',
  name: null,
  emails: [
    { email: 'other@mail.example', primary: false, verified: true },
    { email: 'octo@mail.example', primary: true, verified: true },
  ],
}

interface GithubClient {
  readonly clientId: string
  readonly clientSecret: string
}

export function startGithub(client: GithubClient): GithubStub {
  const codes = new Map<string, string>()
  const token = `gho_${randomUUID()}`
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/login/oauth/authorize': (request) => authorize(request, codes, client.clientId),
      '/login/oauth/access_token': {
        POST: (request) => exchange(request, codes, { ...client, token }),
      },
      '/api/v3/user': (request) => read(request, token, stub.person),
      '/api/v3/user/emails': (request) =>
        stub.person.emails === null
          ? Response.json({ message: 'Not Found' }, { status: 404 })
          : read(request, token, stub.person.emails),
    },
  })
  const stub: GithubStub = {
    baseUrl: `http://127.0.0.1:${server.port}`,
    person: octo,
    codes,
    close: () => server.stop(true),
  }
  return stub
}

function authorize(request: Request, codes: Map<string, string>, clientId: string): Response {
  const { searchParams } = new URL(request.url)
  const [challenge, state] = [searchParams.get('code_challenge'), searchParams.get('state')]
  const isRight =
    searchParams.get('client_id') === clientId &&
    searchParams.get('code_challenge_method') === 'S256' &&
    challenge !== null &&
    state !== null
  if (!isRight) return new Response('wrong request', { status: 400 })
  const code = randomUUID()
  codes.set(code, challenge)
  const back = new URL(searchParams.get('redirect_uri') ?? '')
  back.searchParams.set('code', code)
  back.searchParams.set('state', state)
  return new Response(null, { status: 302, headers: { location: back.href } })
}

/** GitHub also answers 200 for a code that it does not accept. */
async function exchange(
  request: Request,
  codes: Map<string, string>,
  right: GithubClient & { readonly token: string },
): Promise<Response> {
  const fields = new URLSearchParams(await request.text())
  const code = fields.get('code') ?? ''
  const challenge = codes.get(code)
  codes.delete(code)
  const verifier = fields.get('code_verifier') ?? ''
  const isRight =
    fields.get('client_id') === right.clientId &&
    fields.get('client_secret') === right.clientSecret &&
    createHash('sha256').update(verifier).digest('base64url') === challenge
  return isRight
    ? Response.json({ access_token: right.token, token_type: 'bearer', scope: 'read:user' })
    : Response.json({ error: 'bad_verification_code' })
}

function read(request: Request, token: string, value: unknown): Response {
  return request.headers.get('authorization') === `Bearer ${token}`
    ? Response.json(value)
    : Response.json({ message: 'Bad credentials' }, { status: 401 })
}
