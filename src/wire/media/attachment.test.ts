// Tests that files in prompts are measured by a few of their bytes, and that false claims are not believed.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { pdfOf, pngOf } from '../../../test/support/attachments.ts'
import { wav } from '../../../test/support/samples.ts'
import { attachmentsAt } from './attachment.ts'
import { base64File } from './base64-bytes.ts'
import { pagesOf } from './pages.ts'
import { pictureSize } from './picture-size.ts'
import { sniffedType } from './sniff.ts'

const fixture = (name: string) => readFileSync(`test/fixtures/media/${name}`)
const readPart = (part: object | string) => {
  const text = typeof part === 'string' ? part : JSON.stringify(part)
  return attachmentsAt(Buffer.from(text), [0])
}
const shown = (url: string, more: object = {}) => ({
  type: 'image_url',
  image_url: { url, ...more },
})
const png = (width: number, height: number, bytes = 200) =>
  `data:image/png;base64,${pngOf(width, height, bytes).toString('base64')}`

describe('base64 is read in places', () => {
  test('gives the bytes of any range, in both alphabets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(200), (bytes, a, b) => {
        const [from, to] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)]
        for (const alphabet of ['base64', 'base64url'] as const) {
          const text = Buffer.from(`"${Buffer.from(bytes).toString(alphabet)}"`)
          const file = base64File(text, 1, text.length - 1)
          expect(file.size).toBe(bytes.length)
          expect(Buffer.from(file.read(from, to))).toEqual(Buffer.from(bytes.subarray(from, to)))
        }
      }),
    )
  })

  test('reads the beginning where solidi are escaped and lines are broken', () => {
    const bytes = pngOf(640, 480, 3_000)
    const lines = bytes.toString('base64').replace(/.{76}/g, '$&\n')
    const text = Buffer.from(JSON.stringify(lines).replaceAll('/', '\\/'))
    const file = base64File(text, 1, text.length - 1)
    expect([...file.read(0, 100)]).toEqual([...bytes.subarray(0, 100)])
    expect(pictureSize(file, 'image/png')).toEqual({ width: 640, height: 480 })
  })
})

describe('a picture', () => {
  test.each(['image.png', 'image.jpg', 'image.gif', 'image.webp'])(
    '%s says how large it is',
    (name) => {
      const file = fixture(name)
      const bytes = {
        size: file.length,
        read: (from: number, to: number) => file.subarray(from, to),
      }
      expect(pictureSize(bytes, sniffedType(bytes))).toEqual({ width: 16, height: 16 })
    },
  )

  test('is found by its bytes whatever its name, with how closely it is to be looked at', () => {
    const [found] = readPart(shown(png(300, 200).replace('png', 'jpeg'), { detail: 'low' }))
    expect(found).toMatchObject({ kind: 'image', type: 'image/png', detail: 'low' })
    expect(found?.size).toEqual({ width: 300, height: 200 })
  })

  test('is looked at as closely as its format says it, and nowhere else', () => {
    const data = pngOf(9, 9, 99).toString('base64')
    const of = (part: object) => readPart(part)[0]?.detail
    expect(of({ ...shown(png(9, 9), { detail: 'high' }), detail: 'low', level: 'low' })).toBe(
      'high',
    )
    expect(of({ ...shown(png(9, 9)), detail: 'low' })).toBeNull()
    expect(of({ type: 'input_image', image_url: png(9, 9), detail: 'low' })).toBe('low')
    expect(of({ type: 'image', detail: 'low', source: { data, detail: 'low' } })).toBeNull()
    const mediaResolution = { level: 'MEDIA_RESOLUTION_LOW' }
    const inlineData = { mimeType: 'image/png', data, level: 'low', detail: 'low' }
    expect(of({ inlineData, mediaResolution })).toBe('MEDIA_RESOLUTION_LOW')
    expect(of({ inlineData, detail: 'low' })).toBeNull()
  })

  test('that claims one pixel for many bytes is not believed; a small one with a profile is', () => {
    expect(readPart(shown(png(1, 1, 200_000)))[0]?.size).toBeNull()
    expect(readPart(shown(png(1, 1, 20_000)))[0]?.size).toEqual({ width: 1, height: 1 })
    expect(readPart(shown(png(0, 900)))[0]?.size).toBeNull()
    expect(readPart(shown(png(4_000_000, 900)))[0]?.size).toBeNull()
  })

  test('of two frames is as large as the larger: JPEG and GIF', () => {
    const frame = (height: number, width: number) =>
      Buffer.from([
        0xff,
        0xc0,
        0,
        11,
        8,
        height >> 8,
        height & 255,
        width >> 8,
        width & 255,
        1,
        1,
        0x11,
        0,
      ])
    const jpeg = Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      frame(900, 800),
      frame(1, 1),
      Buffer.from([0xff, 0xda, 0, 2]),
    ])
    const read = (bytes: Buffer) =>
      readPart(shown(`data:image/jpeg;base64,${bytes.toString('base64')}`))
    expect(read(jpeg)[0]?.size).toEqual({ width: 800, height: 900 })
    const gif = Buffer.from(
      'GIF89a\x01\0\x01\0\0\0\0\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x20\x03\x84\x03\0\x02',
      'latin1',
    )
    expect(read(gif)[0]?.size).toEqual({ width: 800, height: 900 })
  })

  test('never breaks the reader, whatever its bytes', () => {
    const heads = [
      '\x89PNG\r\n\x1a\n',
      '\xff\xd8\xff',
      'GIF89a',
      'RIFF\0\0\0\0WEBPVP8X',
      '\0\0\0\x18ftypheic',
      '%PDF-',
      'RIFF\0\0\0\0WAVE',
      'OggS',
      'fLaC',
      'ID3',
      '',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 300 }), (head, rest) => {
        const bytes = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(rest)])
        const found = readPart(shown(`data:image/png;base64,${bytes.toString('base64')}`))
        expect(found).toHaveLength(1)
      }),
    )
  })
})

describe('many attachments', () => {
  const parts = (count: number, part: object) => {
    const one = JSON.stringify(part)
    const offsets = Array.from({ length: count }, (_, at) => at * one.length)
    return attachmentsAt(Buffer.from(one.repeat(count)), offsets)
  }

  test('of an ordinary size are all measured', () => {
    const pictures = parts(600, shown(png(30, 20, 9_000)))
    expect(pictures.every(({ size }) => size !== null)).toBe(true)
    const data = pdfOf(3, 80_000).toString('base64')
    const documents = parts(100, { inlineData: { mimeType: 'application/pdf', data } })
    expect(documents.every(({ pages }) => pages === 3)).toBe(true)
  })

  test('are read so far and no further: the rest counts as the most, and as text besides', () => {
    const fill = Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.alloc(1_000, 0xff)])
    const found = parts(2_000, shown(`data:image/jpeg;base64,${fill.toString('base64')}`))
    const measured = found.filter(({ spelledBytes }) => spelledBytes > 0).length
    expect(measured).toBeGreaterThan(100)
    expect(measured).toBeLessThan(1_000)
    expect(found.at(-1)).toMatchObject({ kind: 'image', spelledBytes: 0, size: null })
  })
})

describe('sound and documents', () => {
  test('last as long as their container says', () => {
    const data = wav(20).toString('base64')
    const [found] = readPart({ type: 'input_audio', input_audio: { data, format: 'wav' } })
    expect(found).toMatchObject({ kind: 'audio', seconds: 20, bytes: 320_044 })
    expect(found?.spelledBytes).toBe(data.length)
  })

  test('films are looked at as often as anybody may read', () => {
    const film = (fps: unknown) =>
      readPart({ fileData: { mimeType: 'video/mp4', fileUri: 'a' }, videoMetadata: { fps } })[0]
        ?.framesPerSecond
    for (const fps of [24, '24', '2.4e1']) expect(film(fps)).toBe(24)
    for (const fps of ['NaN', null, {}, -1]) expect(film(fps)).toBeNull()
  })

  test('have the pages their tree tells of, or nobody knows', () => {
    const pages = (file: Buffer) => {
      const data = file.toString('base64')
      return readPart({ inlineData: { mimeType: 'application/pdf', data } })[0]?.pages
    }
    expect(pages(pdfOf(12, 400_000))).toBe(12)
    expect(pages(pdfOf(12, 400_000, true))).toBeNull()
  })

  test('a page tree that says less than the pages in sight is not believed', () => {
    const bytes = Buffer.from(
      `%PDF-1.4 ${'<< /Type /Page >> '.repeat(30)} /Type /Pages /Count 1 %%EOF`,
    )
    expect(pagesOf({ size: bytes.length, read: (from, to) => bytes.subarray(from, to) })).toBe(30)
  })

  test('at an address are known to be there, and no more', () => {
    const nothing = { spelledBytes: 0, bytes: 0, size: null, seconds: null, pages: null }
    expect(readPart(shown('https://example.com/a.png'))).toMatchObject([
      { ...nothing, kind: 'image' },
    ])
    expect(readPart({ type: 'input_file', file_id: 'file-1' })).toMatchObject([
      { ...nothing, kind: 'document' },
    ])
    expect(
      readPart({
        fileData: { mimeType: 'video/mp4', fileUri: 'gs://a/b' },
        videoMetadata: { fps: 5 },
      }),
    ).toMatchObject([{ ...nothing, kind: 'video', framesPerSecond: 5 }])
  })
})

describe('what is not what it says', () => {
  test('two addresses of one picture leave both as text', () => {
    const part = { type: 'image_url', image_url: { url: png(9, 9), data: 'x'.repeat(900) } }
    expect(readPart(part)).toMatchObject([{ kind: 'image', spelledBytes: 0, size: null }])
  })

  test('two types of one file leave both as text', () => {
    const data = pngOf(9, 9, 99).toString('base64')
    const inlineData = { mimeType: 'text/plain', mime_type: 'image/png', data }
    expect(readPart({ inlineData })).toMatchObject([{ spelledBytes: 0, size: null }])
  })

  test('text in the place of a document is text, though it begins as a picture does', () => {
    const source = { type: 'text', media_type: 'text/plain', data: '/9j/4AAQSkZJRg'.repeat(99) }
    expect(readPart({ type: 'document', source })).toEqual([])
  })

  test('what names itself text or a PDF is that, though its first bytes are a picture or sound', () => {
    const words = 'Words that a model reads. '.repeat(400)
    const heads = [pngOf(1, 1, 70), Buffer.from('GIF89a\x01\0\x01\0\0\0\0'), Buffer.from('ID3 ')]
    const places = (type: string, base64: string): (object | string)[] => {
      const url = `data:${type};base64,${base64}`
      const file = JSON.stringify({ type: 'input_file', file_data: url }).replace('/', '\\/')
      const letter = `\\u00${type.charCodeAt(0).toString(16)}`
      return [
        { inlineData: { mimeType: type, data: base64 } },
        { type: 'document', source: { type: 'base64', media_type: type, data: base64 } },
        { type: 'file', file: { filename: 'a', file_data: url } },
        { type: 'image_url', image_url: { url } },
        file.replace(`data:${type.charAt(0)}`, `data:${letter}`),
      ]
    }
    for (const head of heads) {
      const text = Buffer.concat([head, Buffer.from(words)])
      for (const part of places('text/plain', text.toString('base64')))
        expect(readPart(part)).toMatchObject([{ kind: 'text', bytes: text.length }])
      const pdf = Buffer.concat([head, pdfOf(12, 9_000)])
      for (const part of places('application/pdf', pdf.toString('base64')))
        expect(readPart(part)).toMatchObject([{ kind: 'document', pages: 12 }])
    }
  })

  test("a picture is no sound, and no film, for having a picture's first bytes", () => {
    const data = Buffer.concat([pngOf(1, 1, 70), Buffer.alloc(9_000)]).toString('base64')
    for (const kind of ['audio', 'video'] as const)
      expect(readPart({ inlineData: { mimeType: `${kind}/mp4`, data } })).toMatchObject([
        { kind, seconds: null },
      ])
  })

  test('a word written with escapes is the same word', () => {
    const data = png(1, 1).slice('data:image/png;base64,'.length)
    const source = { type: 'text', media_type: 'text/plain', data: `${data} and words` }
    const part = JSON.stringify({ type: 'document', source })
    expect(readPart(part.replace('"text"', '"te\\u0078t"'))).toEqual([])
    const whole = '"\\u0074\\u0065\\u0078\\u0074"'
    expect(readPart(part.replace('"text"', whole))).toEqual([])
    const plain = { inlineData: { mimeType: 'TYPE', data } }
    const spelled = [...'text/plain; charset=utf-8']
      .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
    expect(readPart(JSON.stringify(plain).replace('TYPE', spelled))).toMatchObject([
      { kind: 'text' },
    ])
  })

  test('an address whose head cannot be read leaves its bytes as text', () => {
    const url = png(1, 1)
    const heads = [url.replace(',', '\\u002c'), url.replace(';', `;name=${'x'.repeat(400)};`)]
    for (const each of heads) {
      const part = `{"type":"image_url","image_url":{"url":"${each}"}}`
      expect(readPart(part)).toMatchObject([{ kind: 'image', spelledBytes: 0, size: null }])
    }
  })

  test('a file of text is counted by what it spells', () => {
    const data = Buffer.from('Some words. '.repeat(100)).toString('base64')
    const file_data = `data:text/csv;base64,${data}`
    expect(readPart({ type: 'input_file', file_data })).toMatchObject([
      { kind: 'text', bytes: 1_200 },
    ])
  })

  test('pictures inside the texts of a document, and inside what a tool fetched, are found', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', data: pngOf(20, 30, 99).toString('base64') },
    }
    const content = [{ type: 'text', text: 'See:' }, image]
    expect(readPart({ type: 'document', source: { type: 'content', content } })).toMatchObject([
      { kind: 'image', size: { width: 20, height: 30 } },
    ])
    const pdf = {
      type: 'base64',
      media_type: 'application/pdf',
      data: pdfOf(2, 99).toString('base64'),
    }
    const fetched = { type: 'web_fetch_result', content: { type: 'document', source: pdf } }
    expect(readPart({ type: 'web_fetch_tool_result', content: fetched })).toMatchObject([
      { kind: 'document', pages: 2 },
    ])
  })

  test('parts inside parts end somewhere', () => {
    let part: object = { type: 'document', source: { type: 'base64', data: '' } }
    for (let depth = 0; depth < 25; depth++) part = { type: 'a', content: [part] }
    expect(readPart(part)).toEqual([])
  })
})
