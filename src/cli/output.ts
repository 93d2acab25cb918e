// What the CLI prints: text as it is, JSON, and tables for people.

/** Resolves once the text is handed on, so that a long list waits for its reader. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

export function printJson(value: unknown): Promise<void> {
  return print(`${JSON.stringify(value, null, 2)}\n`)
}

/** For people, beside the result: never part of it. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

export type Cell = string | number | null

/** Columns as wide as their widest cell; columns of numbers are set to the right. Null prints as `-`. */
export function table(headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [headings, ...rows].map((cells) => cells.map(cellText))
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  )
  const numeric = headings.map((_, column) => rows.some((row) => typeof row[column] === 'number'))
  const format = (cells: string[]) =>
    cells
      .map((cell, column) =>
        numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return lines.map((cells) => `${format(cells)}\n`).join('')
}

/** Names come from clients: a control character must not reach the terminal. */
function cellText(cell: Cell): string {
  return cell === null ? '-' : String(cell).replaceAll(/\p{C}/gu, '\uFFFD')
}
