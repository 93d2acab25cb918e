// Finds where a text stops being JSON, since browsers do not always say.

const value =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The index of the first invalid character, from 0; the length if something is missing; null: it is JSON. */
export function breakOf(text: string): number | null {
  let at = 0
  const next = () => {
    while (' \t\r\n'.includes(text[at] ?? '.')) at += 1
    return text[at]
  }
  const take = (wanted: string) => {
    if (next() !== wanted) return false
    at += 1
    return true
  }
  const simple = (isName = false) => {
    value.lastIndex = at
    if ((isName && next() !== '"') || !value.test(text)) return false
    at = value.lastIndex
    return true
  }
  /** Items up to the closing bracket. */
  const items = (end: string, item: () => boolean): boolean => {
    if (take(end)) return true
    do if (!item()) return false
    while (take(','))
    return take(end)
  }
  const any = (): boolean => {
    next()
    if (take('[')) return items(']', any)
    if (take('{')) return items('}', () => (next(), simple(true)) && take(':') && any())
    return simple()
  }
  return any() && next() === undefined ? null : at
}
