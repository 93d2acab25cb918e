// Text as both engines can keep it.

const longestText = 1024

/**
 * PostgreSQL takes no NUL, neither engine takes half a surrogate pair: both become U+FFFD. Cut at 1,024
 * characters, since model names and causes come from clients and vendors.
 */
export function cleanText(text: string): string {
  const short = text.length > longestText ? text.slice(0, longestText) : text
  const whole = short.isWellFormed() ? short : short.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

export function cleanTextOrNull(text: string | null): string | null {
  return text === null ? null : cleanText(text)
}

/** Whole, however long: for what is kept for people to mend by hand. */
export function cleanLongText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
