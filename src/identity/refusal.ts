// How sign-in refuses: a page for a browser that was sent here, a problem (RFC 9457) for a program.

const statuses = {
  invalid_request: 400,
  invalid_state: 400,
  denied: 400,
  not_believed: 400,
  link_not_valid: 400,
  not_signed_in: 401,
  not_fresh: 403,
  sign_up_closed: 403,
  invitation_needed: 403,
  account_closed: 403,
  foreign_origin: 403,
  not_found: 404,
  method_not_allowed: 405,
  linked_elsewhere: 409,
  too_many_attempts: 429,
  provider_away: 503,
} as const

type SignInProblem = keyof typeof statuses

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
): Response {
  const status = statuses[problem]
  const wantsPage = request.headers.get('accept')?.includes('text/html') === true
  const type = wantsPage ? 'text/html; charset=utf-8' : 'application/problem+json'
  const body = wantsPage ? page(message) : problemText(problem, status, message)
  return new Response(body, {
    status,
    headers: {
      ...shared,
      ...headers,
      'content-type': type,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    },
  })
}

function problemText(problem: SignInProblem, status: number, message: string): string {
  const type = `urn:tollgate:problem:${problem}`
  return JSON.stringify({
    type,
    title: 'Sign-in was refused',
    status,
    detail: message,
    code: problem,
  })
}

/** The message is ours alone: nothing of the request or of a provider stands in it unescaped. */
function page(message: string): string {
  const text = message.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
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
