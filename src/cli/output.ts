// Prints the CLI's results: plain text, JSON, and tables for people.

/** The reader of the output, such as `head`, needs no more. */
export class ReaderGone extends Error {}

/**
 * Resolves once the text is handed to the reader, so that a long list goes no faster than it reads. Rejects with
 * ReaderGone where the reader has closed the pipe.
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error) resolve()
      else reject('code' in error && error.code === 'EPIPE' ? new ReaderGone() : error)
    })
  })
}

export function printJson(value: unknown): Promise<void> {
  return print(`${JSON.stringify(value, null, 2)}\n`)
}

/** For a command whose exit code is a verdict: it holds whether or not the output is read to its end. */
export async function whoeverReads(printed: Promise<void>): Promise<void> {
  try {
    await printed
  } catch (error) {
    if (!(error instanceof ReaderGone)) throw error
  }
}

/** Messages for people on standard error, never part of the result. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

export type Cell = string | number | null

/** Columns are as wide as their widest cell; columns of numbers are right-aligned. Null prints as `-`. */
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

/** Names come from clients, so control characters are replaced before they reach the terminal. */
function cellText(cell: Cell): string {
  return cell === null ? '-' : String(cell).replaceAll(/\p{C}/gu, '\uFFFD')
}
