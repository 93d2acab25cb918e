// Reads a request's query and body, and checks them against the route's schemas.

import { Buffer } from 'node:buffer'
import type { z } from '@hono/zod-openapi'
import { plainly } from '../../admin/schema.ts'
import { pathText } from '../../config/problems.ts'
import { ControlError } from './problem.ts'
import type { ControlRoute } from './route.ts'
import { viewAsParameter } from './view-as.ts'

const usualBodyBytes = 1_048_576
const longestETag = 32

/** Throws ControlError naming the field. */
export function judged(
  schema: z.ZodType<object> | undefined,
  given: unknown,
  where: 'path' | 'query' | 'body',
): object {
  if (schema === undefined) return {}
  const checked = schema.safeParse(given, { error: plainly })
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : []
  const field = pathText(unknown === undefined ? (issue?.path ?? []) : [unknown]) || where
  const code = where === 'path' ? 'not_found' : 'invalid'
  throw new ControlError(code, `${field}: ${issue?.message ?? 'is not valid'}`, field)
}

/** The query's parameters. Throws ControlError for a name that occurs twice. */
export function queryOf(url: URL): Readonly<Record<string, string>> {
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of url.searchParams) {
    if (name === viewAsParameter) continue
    if (name in query) throw new ControlError('invalid', `${name}: was given more than once`, name)
    query[name] = value
  }
  return { ...query }
}

/** '' where there is no body. Throws ControlError `too_large`. */
export async function bodyText(
  request: Request,
  { maxBodyBytes = usualBodyBytes }: Pick<ControlRoute, 'maxBodyBytes'>,
): Promise<string> {
  const tooLarge = () =>
    new ControlError('too_large', `The body may have at most ${maxBodyBytes} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  if (request.body === null) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body) {
    length += chunk.length
    if (length > maxBodyBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ControlError('invalid', 'The body is not UTF-8.', 'body')
  }
}

/** The parsed body, before its schema checks it. Throws ControlError `unsupported_media_type`, `invalid`. */
export function parseBody(request: Request, text: string, route: ControlRoute): unknown {
  if (text === '' && route.bodyOptional === true) return {}
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    const message = 'The body must be JSON: Content-Type: application/json'
    throw new ControlError('unsupported_media_type', message)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new ControlError('invalid', 'The body is not valid JSON.', 'body')
  }
}

/**
 * The revision in `If-Match`; undefined where there is none, or `*`. Throws ControlError `stale` for any other text.
 */
export function ifMatchOf(headers: Headers): number | undefined {
  const shown = headers.get('if-match')
  if (shown === null || shown === '*') return undefined
  const revision = /^"(\d{1,15})"$/.exec(shown.slice(0, longestETag))?.[1]
  if (revision !== undefined) return Number(revision)
  throw new ControlError('stale', 'If-Match does not match the present version.', 'If-Match')
}
