// Serves the API documentation: /openapi.json for all of the gateway's interfaces, and /docs, the same for people.

import { createHash } from 'node:crypto'
import { ControlError } from './problem.ts'

interface Shown {
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

interface OwnDocument extends Readonly<Record<string, unknown>> {
  readonly paths?: object
  readonly components: { readonly schemas?: object; readonly securitySchemes: object }
}

/** Returns a handler for both paths; it gives null for others. `own`: the document of the control API. */
export function createDocuments(own: OwnDocument) {
  let loading: Promise<ReadonlyMap<string, Shown>> | null = null
  return async ({ method, headers }: Request, pathname: string): Promise<Response | null> => {
    if (pathname !== '/openapi.json' && pathname !== '/docs') return null
    const allow = 'GET, HEAD, OPTIONS'
    if (method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
    if (method !== 'GET' && method !== 'HEAD') {
      const message = `This path supports ${allow}, not ${method}.`
      throw new ControlError('method_not_allowed', message, null, { allow })
    }
    loading ??= load(own)
    const shown = (await loading).get(pathname)
    if (shown === undefined) return null
    const isKnown = headers.get('if-none-match') === shown.headers['etag']
    return new Response(isKnown ? null : shown.text, {
      status: isKnown ? 304 : 200,
      headers: { ...shown.headers },
    })
  }
}

/** Loaded at the first request for it: no other request needs it. */
async function load(own: OwnDocument) {
  const [{ describeV1 }, { docsPage }] = await Promise.all([
    import('../openapi/v1.ts'),
    import('../openapi/page.ts'),
  ])
  const { tags, paths, components } = describeV1()
  const whole = {
    ...own,
    tags,
    paths: { ...paths, ...own.paths },
    components: {
      ...own.components,
      ...components,
      schemas: { ...components['schemas'], ...own.components.schemas },
      securitySchemes: { ...components['securitySchemes'], ...own.components.securitySchemes },
    },
  }
  const json = JSON.stringify(whole, withoutFlags)
  const { html, policy } = docsPage(JSON.parse(json))
  return new Map([
    ['/openapi.json', shownAs(json, { 'content-type': 'application/json' })],
    [
      '/docs',
      shownAs(html, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
      }),
    ],
  ])
}

/** Removes the flags that the library appends to a pattern: JSON Schema reads every pattern as Unicode. */
function withoutFlags(name: string, value: unknown): unknown {
  return name === 'pattern' && typeof value === 'string' ? value.replace(/\$\/[a-z]+$/, '$') : value
}

function shownAs(text: string, headers: Shown['headers']): Shown {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  return { text, headers: { ...headers, etag, 'cache-control': 'no-cache' } }
}
