// Tests that a form is read the same however its bytes are divided, and that a malformed one is refused with the
// reason.

import { describe, expect, test } from 'bun:test'
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { GatewayError } from '../../../errors.ts'
import { boundaryOf } from '../head.ts'
import { MultipartParser, type PartHead } from './multipart.ts'

interface Part {
  readonly head: PartHead
  readonly body: string
}

function read(boundary: string, pieces: readonly Uint8Array[]): Part[] {
  const parts: Part[] = []
  let head: PartHead | null = null
  let chunks: Uint8Array[] = []
  const parser = new MultipartParser(boundary, {
    begin(given) {
      expect(head).toBeNull()
      head = given
      chunks = []
    },
    bytes: (chunk) => void chunks.push(Uint8Array.from(chunk)),
    end() {
      if (head === null) throw new Error('an end without a beginning')
      parts.push({ head, body: Buffer.concat(chunks).toString('latin1') })
      head = null
    },
  })
  for (const piece of pieces) parser.push(piece)
  parser.end()
  return parts
}

const whole = (text: string) => [Buffer.from(text, 'latin1')]
const plain = (name: string, body: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${body}\r\n`
const head = (name: string, fileName: string | null = null, type = '') => ({ name, fileName, type })

describe('a whole form', () => {
  test('texts and files, with what stands around them', () => {
    const file =
      '--b  \r\ncontent-type: Image/PNG; x=1\r\ncontent-DISPOSITION:form-data;name=image;filename="a.png"\r\n\r\n'
    const text = `before\r\n${plain('prompt', 'a\r\n--a\r')}${file}\r\n--\r\n-b\r\n--b--\r\nafter`
    expect(read('b', whole(text))).toEqual([
      { head: head('prompt'), body: 'a\r\n--a\r' },
      { head: head('image', 'a.png', 'image/png'), body: '\r\n--\r\n-b' },
    ])
  })

  test('parts without a body, by either reading of the standard', () => {
    const bare = '--b\r\nContent-Disposition: form-data; name="b"\r\n\r\n--b--'
    expect(read('b', whole(`${plain('a', '')}${bare}`))).toEqual([
      { head: head('a'), body: '' },
      { head: head('b'), body: '' },
    ])
  })

  test('no part at all', () => {
    expect(read('b', whole('--b--\r\n'))).toEqual([])
  })

  const names: readonly (readonly [disposition: string, name: string, fileName: string | null])[] =
    [
      ['name="a b"', 'a b', null],
      ['name=a; filename*=UTF-8\'\'na%C3%AFve%20x.png; filename="x.png"', 'a', 'naïve x.png'],
      ['name=a; filename*=UTF-8\'\'%zz; filename="x.png"', 'a', 'x.png'],
      ['name="q%22q"; filename="a%0D%0A%22b.png"', 'q"q', 'a"b.png'],
      ['name="a"; filename="x\\"y.png"', 'a', 'x"y.png'],
      ['name="a"; filename="C:\\dir\\file.png"', 'a', 'file.png'],
      ['name="a"; filename=""', 'a', ''],
      ['name="a"; filename="x;name=evil.png"', 'a', 'x;name=evil.png'],
      ['name="a"; name="b"', 'a', null],
    ]
  test.each(names)('%s', (disposition, name, fileName) => {
    const text = `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nx\r\n--b--`
    expect(read('b', whole(text))).toEqual([{ head: head(name, fileName), body: 'x' }])
  })

  test('what the runtime itself writes', async () => {
    const form = new FormData()
    form.append('prompt', 'Zwölf Boxkämpfer\r\n--b')
    form.append('image[]', new File([new Uint8Array([0, 13, 10, 45, 45, 255])], 'ü "x".png'))
    const request = new Response(form)
    const boundary = boundaryOf(request.headers.get('content-type')) ?? ''
    const parts = read(boundary, [await request.bytes()])
    expect(parts.map(({ head }) => [head.name, head.fileName])).toEqual([
      ['prompt', null],
      ['image[]', 'ü "x".png'],
    ])
    expect(Buffer.from(parts[1]?.body ?? '', 'latin1')).toEqual(
      Buffer.from([0, 13, 10, 45, 45, 255]),
    )
  })
})

test('cut anywhere, any form reads the same', () => {
  // Bodies made of pieces of boundaries.
  const body = fc
    .array(fc.constantFrom('\r', '\n', '-', '--', 'b', '-b-', 'x', '\r\n--b-', '\r\n--', '\xff'), {
      maxLength: 12,
    })
    .map((pieces) => pieces.join(''))
    .filter((text) => !`\r\n${text}\r\n`.includes('\r\n--b-b\r') && !text.includes('\r\n--b-b-'))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', 'image[]'), body), { maxLength: 4 }),
      fc.array(fc.nat(40), { maxLength: 60 }),
      (parts, cuts) => {
        const boundary = '-b-b-x'
        const bytes = Buffer.from(
          `${parts
            .map(([name, text]) => plain(name, text).replace('--b\r\n', `--${boundary}\r\n`))
            .join('')}--${boundary}--\r\n`,
          'latin1',
        )
        const pieces: Uint8Array[] = []
        let at = 0
        for (const length of cuts) {
          pieces.push(bytes.subarray(at, at + length))
          at += length
        }
        pieces.push(bytes.subarray(at))
        const expected = parts.map(([name, text]) => ({ head: head(name), body: text }))
        expect(read(boundary, pieces)).toEqual(expected)
        const single = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1))
        expect(read(boundary, single)).toEqual(expected)
      },
    ),
  )
})

function refusal(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof GatewayError)
      return `${error.code} ${error.detail.param}: ${error.message}`
    throw error
  }
  return 'none'
}

const long = 'x'.repeat(20_000)
const bad: readonly (readonly [what: string, body: string, says: RegExp])[] = [
  ['empty', '', /boundary is not in the body/],
  ['not a form', '{"model":"m"}', /boundary is not in the body/],
  ['of another boundary', plain('a', 'x').replace('--b', '--c'), /boundary is not in the body/],
  ['cut inside a head', '--b\r\nContent-Dispos', /ends before its closing boundary/],
  ['cut inside a body', plain('image', 'x'), /image: .*ends before its closing boundary/],
  ['cut inside its last boundary', `${plain('image', 'x')}--b-`, /ends before its closing/],
  ['a boundary in a longer word', `${plain('a', 'x')}--bob`, /followed by something else/],
  ['a part without a head', '--b\r\n\r\nx\r\n--b--', /no content-disposition/],
  [
    'an attachment',
    '--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--',
    /no content-disp/,
  ],
  ['a part without a name', '--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--', /no name/],
  ['a part with an empty name', plain('', 'x'), /no name/],
  ['a line without a colon', '--b\r\nContent-Disposition\r\n\r\nx\r\n--b--', /without a colon/],
  [
    'two dispositions',
    '--b\r\nContent-Disposition: form-data; name=a\r\nContent-Disposition: form-data; name=b\r\n\r\nx\r\n--b--',
    /two content-dispositions/,
  ],
  [
    'another encoding',
    '--b\r\nContent-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64\r\n\r\nx\r\n--b--',
    /content-transfer-encoding base64/,
  ],
  ['a long head', `--b\r\nX: ${long}\r\n\r\nx\r\n--b--`, /longer than 16384 bytes/],
  ['a head without end', `--b\r\nX: ${long}`, /longer than 16384 bytes/],
  ['many parts', `${plain('a', 'x').repeat(101)}--b--`, /more than 100 parts/],
]
test.each(bad)('refused: %s', (_what, body, says) => {
  expect(refusal(() => read('b', whole(body)))).toMatch(says)
  const pieces = Array.from(Buffer.from(body, 'latin1'), (byte) => Uint8Array.of(byte))
  expect(refusal(() => read('b', pieces))).toMatch(says)
  expect(refusal(() => read('b', whole(body)))).toStartWith('invalid_request_error ')
})

describe('the boundary of a content type', () => {
  const good: readonly (readonly [type: string, boundary: string | null])[] = [
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; Boundary="a b"; x=1', 'a b'],
    ["multipart/form-data;boundary=----'()+_,-./:=?", "----'()+_,-./:=?"],
    [`multipart/form-data; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
    ['application/json', null],
    ['multipart/mixed; boundary=abc', null],
    ['multipart/form-datax; boundary=abc', null],
  ]
  test.each(good)('%s', (type, boundary) => expect(boundaryOf(type)).toBe(boundary))

  test.each([
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="a "',
    'multipart/form-data; boundary=a{b',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
  ])('%s is refused', (type) => {
    expect(refusal(() => boundaryOf(type))).toMatch(/^invalid_request_error null: .*boundary/)
  })
})
