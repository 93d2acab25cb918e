// Tests that every accepted document reads the same in every JSON reader, and that documents with several readings are
// refused.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../errors.ts'
import { bytesOf, textOf } from '../testing.ts'
import { checkNames, placeOf } from './names.ts'
import { JsonSyntaxError } from './scan.ts'
import { join, splice } from './splice.ts'

const place = placeOf(['model', 'stream', 'max_tokens'], { options: placeOf(['num_predict']) })

/** The document as it may be passed on, or the parameter for which it is refused. */
function checked(text: string): { readonly text: string } | { readonly param: string } {
  const bytes = bytesOf(text)
  try {
    return { text: textOf(join(splice(bytes, checkNames(bytes, 0, place)))) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { param: error.detail.param ?? '' }
  }
}

const unit = fc.constantFrom('a', 'b', 'é', '"', '\\', '\n', '\u0000', '\ud800', '/', '😀', 'K')
const name = fc.oneof(
  fc.string(),
  fc.array(unit, { maxLength: 3 }).map((units) => units.join('')),
)

/** One of the ways in which JSON spells a text. */
function spelled(text: string, escapes: boolean): string {
  if (!escapes) return JSON.stringify(text)
  const units = text.split('').map((each) => each.charCodeAt(0).toString(16).padStart(4, '0'))
  return `"${units.map((hex) => `\\u${hex}`).join('')}"`
}

type Tree =
  | { readonly members: readonly (readonly [string, boolean, Tree])[] }
  | { readonly of: readonly Tree[] }
  | null

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(null),
    fc.record({ of: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ members: fc.array(fc.tuple(name, fc.boolean(), tie('tree')), { maxLength: 5 }) }),
  ),
}))

function written(value: Tree): string {
  if (value === null) return '0'
  if ('of' in value) return `[${value.of.map(written).join(', ')}]`
  return `{${value.members.map(([key, escapes, each]) => `${spelled(key, escapes)} :${written(each)}`).join(',')}}`
}

function repeats(value: Tree): boolean {
  if (value === null) return false
  if ('of' in value) return value.of.some(repeats)
  const names = value.members.map(([key]) => key)
  return new Set(names).size < names.length || value.members.some(([, , each]) => repeats(each))
}

describe('names', () => {
  test('a document is refused exactly where some object names a member twice, however spelled', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.boolean(), tree), { maxLength: 5 }), (members) => {
        fc.pre(!members.some(([key]) => /^(options|model|stream|max_tokens)$/i.test(key)))
        const document = { members }
        const result = checked(written(document))
        expect('param' in result).toBe(repeats(document))
        if ('text' in result) expect(JSON.parse(result.text)).toEqual(JSON.parse(written(document)))
      }),
      { numRuns: 3_000 },
    )
  })

  test('objects of many members are compared as well as those of few', () => {
    const many = fc.uniqueArray(name, { minLength: 17, maxLength: 200 })
    fc.assert(
      fc.property(many, fc.nat(), fc.boolean(), (names, at, escapes) => {
        const members = names.map((each) => `${spelled(each, false)}:1`)
        const again = names[at % names.length] ?? ''
        const path = `{"x":[{${members.join(',')}}]}`
        expect(checked(path)).toEqual({ text: path })
        const twice = `{"x":[{${[...members, `${spelled(again, escapes)}:1`].join(',')}}]}`
        expect(checked(twice)).toHaveProperty('param')
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['{"Model":"m"}', 'Model'],
    ['{"MAX_TOKENS":1,"max_tokens":1}', 'MAX_TOKENS'],
    ['{"\\u004dodel":1}', 'Model'],
    ['{"\u017ftream":true}', '\u017ftream'],
    ['{"max_to\u212aens":1}', 'max_to\u212aens'],
    ['{"max_to\\u212aens":1}', 'max_to\u212aens'],
    ['{"options":{"Num_Predict":1}}', 'options.Num_Predict'],
    ['{"OPTIONS":{"num_predict":1}}', 'OPTIONS'],
    ['{"options":[{"Num_Predict":1}]}', 'options.[0].Num_Predict'.replace('.[', '[')],
  ])('%s differs from a known name only in case', (text, param) => {
    expect(checked(text)).toEqual({ param })
  })

  test.each([
    '{"model":{"Model":1,"model":2}}',
    '{"tools":[{"properties":{"Model":1,"model":2,"MAX_TOKENS":3}}]}',
    '{"options":{"other":{"NUM_PREDICT":1}}}',
    '{"models":1,"modelx":2,"Other":3,"other":4}',
  ])('%s: names of clients\u2019 own may differ as they like', (text) => {
    expect(checked(text)).toEqual({ text })
  })

  test('a member is named by its path, shortened', () => {
    const long = 'x'.repeat(100)
    expect(checked(`{"a":[1,[{"b":{},"c d":{"${long}":1,"${long}":2}}]]}`)).toEqual({
      param: `a[1][0]."c d".${'x'.repeat(64)}...`,
    })
  })

  test('more members than a request has are refused, however deep they stand', () => {
    const wide = `{"a":{${Array.from({ length: 70_000 }, (_, at) => `"k${at}":0`).join(',')}}}`
    expect(() => checked(wide)).toThrow(JsonSyntaxError)
    const escaped = (name: string, times: number) => `[${`{"${name}":1},`.repeat(times)}0]`
    expect(() => checked(`{"a":${escaped('\\u0061', 300)}}`)).toThrow('too many names')
    expect(() => checked(`{"a":${escaped('\\n', 20_000)}}`)).toThrow('too many names')
    expect(() => checked('{"a":'.repeat(80) + '1' + '}'.repeat(80))).toThrow('nested too deeply')
  })

  test('what one document left behind is nothing to the next', () => {
    expect(checked('{"a":{"b":1,"b":2}}')).toEqual({ param: 'a.b' })
    expect(checked('{"b":1}')).toEqual({ text: '{"b":1}' })
  })
})
