// The state in an address: parameters read as plain text and checked; unknown and invalid ones are left out.

type Field<Value> = (text: string) => Value | undefined

/** Any text of up to 500 characters. */
export const text: Field<string> = (value) =>
  value !== '' && value.length <= 500 ? value : undefined

/** A list, joined by commas in the address; commas within values are written as `%2C`. */
export const list: Field<readonly string[]> = (value) => {
  const items = value
    .split(',')
    .map(decodeURIComponentSafely)
    .filter((item) => item !== '')
  return items.length > 0 && items.length <= 50 ? items : undefined
}

export const wholeNumber: Field<number> = (value) =>
  /^\d{1,12}$/.test(value) ? Number(value) : undefined

export const flag: Field<true> = (value) => (value === 'true' ? true : undefined)

/** An RFC 3339 time. */
export const time: Field<string> = (value) => (Number.isNaN(Date.parse(value)) ? undefined : value)

export function oneOf<const Value extends string>(...values: readonly Value[]): Field<Value> {
  return (given) => values.find((value) => value === given)
}

type ValueOf<Given> = Given extends Field<infer Value> ? Value : never

type Read<Fields> = {
  readonly [Name in keyof Fields]?: ValueOf<Fields[Name]> | undefined
}

/**
 * Checks a page's search: `validateSearch: searchOf({ model: list, sort: oneOf('at', 'cost') })`. An invalid value
 * becomes undefined, since the router would take one that is left out from the address.
 */
export function searchOf<Fields extends Record<string, Field<unknown>>>(fields: Fields) {
  return (given: Record<string, unknown>): Read<Fields> => {
    const entries = Object.entries(fields).flatMap(([name, field]) => {
      const raw = given[name]
      // Links of the console's own pages give values, addresses give text.
      const value = raw === undefined ? undefined : field(textOf(raw))
      return raw === undefined ? [] : [[name, value]]
    })
    return Object.fromEntries(entries)
  }
}

/** For the router: the text after `?`, without quotes or brackets. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search))
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const query = new URLSearchParams(given.map(([name, value]) => [name, textOf(value)])).toString()
  return query === '' ? '' : `?${query}`
}

function textOf(value: unknown): string {
  return Array.isArray(value)
    ? value.map((item) => String(item).replaceAll('%', '%25').replaceAll(',', '%2C')).join(',')
    : String(value)
}

function decodeURIComponentSafely(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
