// Refusals of sign-in: a page that leads a browser to the console, or a problem document (RFC 9457) for a program.

/** By kind: HTTP status, and the control API's code for it. */
const problems = {
  invalid_request: [400, 'invalid'],
  invalid_state: [400, 'invalid'],
  denied: [400, 'invalid'],
  not_believed: [400, 'invalid'],
  link_not_valid: [400, 'invalid'],
  not_signed_in: [401, 'unauthenticated'],
  not_fresh: [403, 'forbidden'],
  sign_up_closed: [403, 'forbidden'],
  invitation_needed: [403, 'forbidden'],
  account_closed: [403, 'forbidden'],
  foreign_origin: [403, 'forbidden'],
  not_found: [404, 'not_found'],
  method_not_allowed: [405, 'method_not_allowed'],
  linked_elsewhere: [409, 'conflict'],
  too_many_attempts: [429, 'limited'],
  provider_away: [503, 'unavailable'],
} as const

type SignInProblem = keyof typeof problems

export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly problem: SignInProblem
  readonly headers: Readonly<Record<string, string>>

  constructor(
    problem: SignInProblem,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.problem = problem
    this.headers = headers
  }
}

const shared = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

export function refusalReply(
  { problem, message, headers }: SignInRefused,
  request: Request,
  requestId: string,
): Response {
  const [status, code] = problems[problem]
  const wantsPage = request.headers.get('accept')?.includes('text/html') === true
  const text = {
    type: `urn:tollgate:problem:${problem}`,
    title: 'Sign-in was refused',
    status,
    detail: message,
    code,
    requestId,
  }
  return new Response(wantsPage ? page(problem, message) : JSON.stringify(text), {
    status,
    headers: {
      ...shared,
      ...headers,
      'content-type': wantsPage ? 'text/html; charset=utf-8' : 'application/problem+json',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    },
  })
}

/**
 * Leads to the console, which shows the same message beside the ways to sign in. The message is ours and is escaped:
 * nothing of the request or of a provider gets into it unescaped.
 */
function page(problem: SignInProblem, message: string): string {
  const text = message.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="0; url=/console/sign-in?error=${problem}">
<title>Sign-in was refused</title>
</head>
<body>
<main>
<h1>Sign-in was refused</h1>
<p>${text}</p>
<p><a href="/">Go on</a></p>
</main>
</body>
</html>
`
}
