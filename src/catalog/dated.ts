// Names of model snapshots, which end in a date.

/**
 * The name without its date (`gpt-4o-mini-2024-07-18`, `claude-haiku-4-5-20251001`, `claude-sonnet-4-5@20250929`); null
 * where it has none.
 */
export function undated(name: string): string | null {
  const found = /^(.+?)(?:-20\d\d-(\d\d)-(\d\d)|[-@]20\d\d(\d\d)(\d\d))$/.exec(name)
  if (found === null) return null
  const [, base = '', month = found[4], day = found[5]] = found
  const [inYear, inMonth] = [Number(month), Number(day)]
  return inYear >= 1 && inYear <= 12 && inMonth >= 1 && inMonth <= 31 ? base : null
}
