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
tr { break-inside: avoid }
.amount { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-right: 0 }
tfoot td, .balance td { font-weight: 600 }
@media print { body { margin: 0; max-width: none } }`

/** The content security policy of such a page: only its own style; only the gateway's own pages may frame it. */
export const printedPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`

type Escape = (text: string) => string

/** Table rows whose last cell is an amount, and tables of them with a total. */
export function rowsOf(says: { readonly total: string; readonly none: string }, escape: Escape) {
  const row = (cells: readonly string[], tag = 'td') =>
    `<tr>${cells
      .map(
        (cell, at) =>
          `<${tag}${at === cells.length - 1 ? ' class="amount"' : ''}>${escape(cell)}</${tag}>`,
      )
      .join('')}</tr>`
  const table = (head: readonly string[], rows: readonly (readonly string[])[], total: string) =>
    rows.length === 0
      ? `<p>${escape(says.none)}</p>`
      : `<table><thead>${row(head, 'th')}</thead><tbody>${rows.map((cells) => row(cells)).join('')}</tbody><tfoot>${row(
          [says.total, ...head.slice(2).map(() => ''), total],
        )}</tfoot></table>`
  return { row, table }
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
