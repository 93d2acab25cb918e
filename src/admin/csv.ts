// CSV lines (RFC 4180) that a spreadsheet never takes for formulas.

/** Text from anybody, a number, or an amount that the gateway wrote. */
export type Cell = string | number | null | { readonly units: string }

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

/** An apostrophe goes before text that a spreadsheet would take for a formula. */
function cellOf(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'object') return cell.units
  if (typeof cell === 'number') return String(cell)
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
