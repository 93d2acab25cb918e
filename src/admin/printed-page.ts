// HTML pages for a browser to print, also as PDF: they contain names in any script and load nothing.

import { hash } from 'node:crypto'

export type PageLanguage = 'en' | 'zh-CN'

const style = `@page { size: A4; margin: 18mm }
body { font: 10pt/1.5 system-ui, "Noto Sans SC", "PingFang SC", "Microsoft YaHei", sans-serif; color: #111; max-width: 174mm; margin: 8mm auto }
h1 { font-size: 18pt; margin: 0 0 4mm }
h2 { font-size: 11pt; margin: 8mm 0 2mm }
table { width: 100%; border-collapse: collapse }
th, td { text-align: left; padding: 1mm 2mm 1mm 0; border-bottom: 1px solid #ddd; overflow-wrap: anywhere; vertical-align: top }
thead { display: table-header-group }
/* A footer group would be printed again on each page. */
tfoot { display: table-row-group }
tr { break-inside: avoid }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding: 1mm 0 1mm 6mm }
tfoot td, .balance td { font-weight: 600 }
@media print { body { margin: 0; max-width: none } }`

/** The content security policy of such a page: only its own style; only the gateway's own pages may frame it. */
export const printedPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`

type Escape = (text: string) => string

/** Table rows whose last cells are numbers (one unless told), and tables of them whose last column has a total. */
export function rowsOf(says: { readonly total: string; readonly none: string }, escape: Escape) {
  const row = (cells: readonly string[], tag = 'td', numbers = 1) =>
    `<tr>${cells
      .map(
        (cell, at) =>
          `<${tag}${at >= cells.length - numbers ? ' class="number"' : ''}>${escape(cell)}</${tag}>`,
      )
      .join('')}</tr>`
  const table = (
    head: readonly string[],
    rows: readonly (readonly string[])[],
    total: string,
    numbers = 1,
  ) => {
    if (rows.length === 0) return `<p>${escape(says.none)}</p>`
    const body = rows.map((cells) => row(cells, 'td', numbers)).join('')
    const foot = row([says.total, ...head.slice(2).map(() => ''), total])
    return `<table><thead>${row(head, 'th', numbers)}</thead><tbody>${body}</tbody><tfoot>${foot}</tfoot></table>`
  }
  return { row, table }
}

/** Writes times as `2027-01-31 23:59:59` in the zone; nothing for null. */
export function timesIn(timeZone: string): (at: string | null) => string {
  // Swedish dates are written as in ISO 8601.
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return (at) => (at === null ? '' : clock.format(Date.parse(at)))
}

interface Printed {
  readonly language: PageLanguage
  readonly title: string
  readonly heading: string
  /** HTML. */
  readonly body: string
}

export function printedPage(page: Printed, escape: Escape): string {
  const { language, title, heading, body } = page
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${style}</style></head>
<body><h1>${escape(heading)}</h1>
${body}
</body></html>
`
}
