// Serves the API documentation: /openapi.json for all of the gateway's interfaces, /docs, the same for people, and
// /llms.txt, a short list for language models.

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

const paths: ReadonlySet<string> = new Set(['/openapi.json', '/docs', '/llms.txt'])

/** Returns a handler for these paths; it gives null for others. `own`: the document of the control API. */
export function createDocuments(own: OwnDocument) {
  let loading: Promise<ReadonlyMap<string, Shown>> | null = null
  return async ({ method, headers }: Request, pathname: string): Promise<Response | null> => {
    if (!paths.has(pathname)) return null
    const allow = 'GET, HEAD, OPTIONS'
    if (method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
    if (method !== 'GET' && method !== 'HEAD') {
      const message = `This path supports ${allow}, not ${method}.`
      throw new ControlError('method_not_allowed', message, null, { allow })
    }
    loading ??= load(own).catch((error: unknown) => {
      loading = null
      throw error
    })
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
  const [{ describeV1 }, { docsPage }, { llmsText }] = await Promise.all([
    import('../openapi/v1.ts'),
    import('../openapi/page.ts'),
    import('../openapi/llms.ts'),
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
  const document = JSON.parse(json)
  const { html, policy } = docsPage(document)
  return new Map([
    ['/openapi.json', shownAs(json, { 'content-type': 'application/json' })],
    ['/llms.txt', shownAs(llmsText(document), { 'content-type': 'text/plain; charset=utf-8' })],
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
