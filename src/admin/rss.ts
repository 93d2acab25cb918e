// Writes RSS 2.0 (rssboard.org/rss-specification), with the link to itself that readers ask for.

/** `address`: the server's, without a slash at its end; `own`: path and query of the feed. */
export interface FeedPlace {
  readonly address: string
  readonly own: string
}

interface RssItem {
  readonly title: string
  readonly link: string
  /** Stays the same as long as the item exists. */
  readonly id: string
  /** RFC 3339; null: unknown. */
  readonly at: string | null
  readonly text: string
}

export function rss(title: string, items: readonly RssItem[], { address, own }: FeedPlace): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>${escaped(title)}</title>
<link>${escaped(address)}</link>
<description>${escaped(title)}</description>
<atom:link href="${escaped(address + own)}" rel="self" type="application/rss+xml"/>
${items.map(itemText).join('')}</channel>
</rss>
`
}

function itemText({ title, link, id, at, text }: RssItem): string {
  const date = at === null ? '' : `<pubDate>${new Date(at).toUTCString()}</pubDate>\n`
  return `<item>
<title>${escaped(title)}</title>
<link>${escaped(link)}</link>
<guid isPermaLink="false">${escaped(id)}</guid>
${date}<description>${escaped(text)}</description>
</item>
`
}

/** Escapes text: model names come from operators and vendors. XML allows no control characters, not even escaped. */
function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  }
  return text
    .replace(/\p{Cc}|\p{Cs}/gu, '\uFFFD')
    .replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
}
