// Lines of CSV (RFC 4180) that a spreadsheet takes for nothing but text and numbers.

/** Text of anybody's, a number, or an amount of ours. */
export type Cell = string | number | null | { readonly units: string }

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

/** Text that a spreadsheet would take for a formula has an apostrophe before it. */
function cellOf(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'object') return cell.units
  if (typeof cell === 'number') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
