// Replies with feeds (RSS) that readers subscribe to.

import { createHash } from 'node:crypto'

/** Answers 304 to a reader that has the newest feed; a reply stays fresh for a minute. */
export function feedReply({ headers }: Request, type: string, text: string): Response {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  const fields = { etag, 'cache-control': 'public, max-age=60' }
  const known = headers.get('if-none-match')?.split(',') ?? []
  const isKnown = known.some((each) => [etag, `W/${etag}`, '*'].includes(each.trim()))
  if (isKnown) return new Response(null, { status: 304, headers: fields })
  return new Response(text, { headers: { ...fields, 'content-type': `${type}; charset=utf-8` } })
}

/** The origin and path of the requested feed. */
export function feedPlace({ url }: Request, publicUrl: string | null) {
  const { origin, pathname, search } = new URL(url)
  return { address: publicUrl ?? origin, own: pathname + search }
}
