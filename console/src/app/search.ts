// The state in an address: parameters read as plain text and checked; unknown and invalid ones are left out.

type Field<Value> = (text: string) => Value | undefined

/** Any text of up to 500 characters. */
export const text: Field<string> = (value) =>
  value !== '' && value.length <= 500 ? value : undefined

/** Stands for the empty value in a list; no other value is written so, since `%` is written as `%25`. */
const noValue = '%none'
const mostItems = 50

/**
 * A list, joined by commas in the address; commas within values are written as `%2C`. Of a longer one only the first
 * values are kept.
 */
export const list: Field<readonly string[]> = (value) => {
  const items = value
    .split(',')
    .filter((item) => item !== '')
    .map((item) => (item === noValue ? '' : decodeURIComponentSafely(item)))
  return items.length > 0 ? items.slice(0, mostItems) : undefined
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
  return Array.isArray(value) ? value.map(itemText).join(',') : String(value)
}

function itemText(item: unknown): string {
  return item === '' ? noValue : String(item).replaceAll('%', '%25').replaceAll(',', '%2C')
}

function decodeURIComponentSafely(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
