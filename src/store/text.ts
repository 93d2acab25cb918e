// Cleans text so that both engines can store it.

const longestText = 1024

/**
 * PostgreSQL accepts no NUL, and neither engine an unpaired surrogate: both become U+FFFD. Cut at 1,024 characters,
 * because model names and causes come from clients and vendors.
 */
export function cleanText(text: string): string {
  const short = text.length > longestText ? text.slice(0, longestText) : text
  const whole = short.isWellFormed() ? short : short.toWellFormed()
  return whole.includes('\0') ? whole.replaceAll('\0', '\uFFFD') : whole
}

export function cleanTextOrNull(text: string | null): string | null {
  return text === null ? null : cleanText(text)
}

/** Without a length limit: for data stored for people who repair it by hand. */
export function cleanLongText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
