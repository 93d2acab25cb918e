// The kinds of value in the configuration file, each with its own error text.

import { z } from 'zod'
import { numberFrom } from './rules.ts'

/** Values from the environment are text: where a number is expected, it is read from the text. */
function numberLike(value: unknown): unknown {
  return typeof value === 'string' ? (numberFrom(value) ?? value) : value
}

function booleanLike(value: unknown): unknown {
  if (value === 'true') return true
  return value === 'false' ? false : value
}

/** YAML reads an unquoted 0.15 as a number; one short enough to be exact is converted back to its text. */
function decimalLike(value: unknown): unknown {
  if (typeof value !== 'number') return value
  const text = String(value)
  return text.replace(/\D/g, '').length <= 15 ? text : value
}

export function wholeNumber(min: number, max: number): z.ZodType<number, unknown> {
  const error = `expected a whole number from ${min} to ${max}`
  return z.preprocess(numberLike, z.int(error).min(min, error).max(max, error))
}

export const dayMs = 86_400_000
export const milliseconds = wholeNumber(1, dayMs)
export const count = wholeNumber(1, 1_000_000_000)
export const bytes = wholeNumber(1_024, 1_099_511_627_776)

export const yesOrNo: z.ZodType<boolean, unknown> = z.preprocess(
  booleanLike,
  z.boolean('expected true or false'),
)

/** A non-negative decimal with at most `places` digits after the point, kept as given. */
export function decimal(places: number, example: string): z.ZodType<string, unknown> {
  const error = `expected a non-negative decimal in quotes with at most ${places} decimals, such as "${example}"`
  const pattern = new RegExp(`^\\d{1,9}(\\.\\d{1,${places}})?$`)
  return z.preprocess(decimalLike, z.string(error).regex(pattern, error))
}

/** Text that is not empty and could stand in a header or a log line. */
export function text(expected = 'expected text'): z.ZodString {
  return z
    .string(`${expected}; put a number, true or false in quotes`)
    .regex(/^\P{Cc}+$/u, `${expected}, not empty and without control characters`)
    .max(4_096, 'expected at most 4096 characters')
}

/** Text that may be kept in a file of its own, as `{ file: PATH }`. */
export function secretText(): z.ZodString {
  return text('expected text, or { file: PATH }').meta({ fromFile: true })
}

/** An id that appears in addresses, metrics and commands. */
export const identifier = z
  .string('expected a name; put a number in quotes')
  .regex(
    /^[A-Za-z0-9][\w.:@/-]{0,127}$/,
    'expected a name of letters, digits and . _ - : @ / that begins with a letter or digit',
  )

export function choice<const Names extends readonly [string, ...string[]]>(
  names: Names,
): z.ZodEnum<{ [Name in Names[number]]: Name }> {
  return z.enum(names, `expected one of ${names.join(', ')}`)
}

export function checkedText(
  expected: string,
  holds: (value: string) => boolean,
): z.ZodType<string, unknown> {
  return text(expected).refine(holds, expected)
}

/** A moment with its zone, or a date, which stands for its first moment in UTC; converted to RFC 3339 in UTC. */
export function instant(): z.ZodType<string, unknown> {
  const expected = 'expected a date such as 2027-01-31 or 2027-01-31T12:00:00Z'
  return checkedText(expected, isInstant).transform((value) => new Date(value).toISOString())
}

function isInstant(value: string): boolean {
  return (
    z.iso.date().safeParse(value).success ||
    z.iso.datetime({ offset: true }).safeParse(value).success
  )
}

/** A model's name, or a pattern: `gpt-*`. */
export const modelPattern = z
  .string('expected the name of a model; put a number in quotes')
  .regex(/^([^*\s]{1,255}\*?|\*)$/, 'expected the name of a model, or a prefix followed by *')

export const modelPatterns = z.array(modelPattern, 'expected a list of model names')

/** The type of a key that may be left out or left empty. */
type Settled<Type extends z.ZodType, Else> = z.ZodType<z.output<Type> | Else, unknown>

/** A key with its description for the documentation and the JSON Schema, and its default: null where none is given. */
export function key<Type extends z.ZodType>(type: Type, description: string): Settled<Type, null>
export function key<Type extends z.ZodType>(
  type: Type,
  description: string,
  byDefault: z.output<Type>,
): Settled<Type, never>
export function key<Type extends z.ZodType>(
  type: Type,
  description: string,
  byDefault: z.output<Type> | null = null,
): Settled<Type, null> {
  const meta = byDefault === null ? { description } : { description, byDefault }
  return type
    .nullish()
    .transform((value) => value ?? byDefault)
    .meta(meta)
}

/** A section that may be left out: its keys then have their defaults. */
export function part<Type extends z.ZodType>(
  type: Type,
  description: string,
  empty: unknown = {},
): Settled<Type, never> {
  return type
    .nullish()
    .transform((value) => value ?? type.parse(empty))
    .meta({ description })
}

/** A key of a `sparse` section. */
export function sparseKey<Type extends z.ZodType>(
  type: Type,
  description: string,
): z.ZodOptional<z.ZodNullable<Type>> {
  return type.nullish().meta({ description })
}

/** A section that contains only the keys that were set: others inherit their value from elsewhere. */
export function sparse<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return section(shape).transform(given)
}

/** The members that were set: neither left out nor left empty. */
type Given<Section> = { [Name in keyof Section]?: NonNullable<Section[Name]> }

function given<Section extends object>(section: Section): Given<Section> {
  const said: Given<Section> = {}
  for (const name in section) {
    const value = section[name]
    if (value !== undefined && value !== null) said[name] = value
  }
  return said
}

/** A section with fixed keys; an unknown one is refused. */
export function section<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, { error: sectionError })
}

/** A section whose keys are the operator's own names; an entry left empty has all defaults. */
export function named<Entry extends z.ZodType>(
  name: z.ZodString,
  entry: Entry,
): z.ZodRecord<z.ZodString, z.ZodPreprocess<Entry>> {
  const orEmpty = z.preprocess((value) => value ?? {}, entry)
  return z.record(name, orEmpty, { error: sectionError })
}

/** A map from names of one kind to values of one kind. */
export function pairs<Value extends z.ZodType>(
  name: z.ZodString,
  value: Value,
): z.ZodRecord<z.ZodString, Value> {
  return z.record(name, value, { error: sectionError })
}

function sectionError(issue: { readonly code?: string }): string | undefined {
  return issue.code === 'invalid_type' ? 'expected a section of keys and values' : undefined
}
