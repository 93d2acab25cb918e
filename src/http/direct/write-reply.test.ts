// Tests the bytes on the client's connection of replies that come in pieces.

import { expect, test } from 'bun:test'
import { Output } from './output.ts'
import { writeReply } from './write-reply.ts'

const lengths = [10, 16_000, 16_352, 16_384, 40_000]

test.each(lengths)('a piece of 128 KiB leaves behind a field of %i bytes', async (fieldBytes) => {
  const sent: Buffer[] = []
  const write = (bytes: Uint8Array, from = 0, length = bytes.length - from) =>
    sent.push(Buffer.from(bytes.slice(from, from + length))) * 0 + length
  const bytes = new Uint8Array(131_072).fill(0x61)
  const body = {
    pipe: async (sink: { write(bytes: Uint8Array): unknown; end(): unknown }) => {
      sink.write(bytes)
      sink.end()
    },
    leave: () => undefined,
  }
  const fields = { 'x-long': 'f'.repeat(fieldBytes) }
  const piped = writeReply({ fields, body }, new Output({ write }), false)
  expect(await piped?.done).toBe(true)
  const text = Buffer.concat(sent).toString('latin1')
  expect(text).toContain(`x-long: ${fields['x-long']}\r\n`)
  expect(text.endsWith(`\r\n\r\n20000\r\n${'a'.repeat(131_072)}\r\n0\r\n\r\n`)).toBe(true)
})

test.each([
  [99, 'shorter'],
  [101, 'longer'],
])(
  'of 100 bytes that the head states %i come: the connection is not reused',
  async (bodyBytes, how) => {
    const sent: Buffer[] = []
    const write = (bytes: Uint8Array, from = 0, length = bytes.length - from) =>
      sent.push(Buffer.from(bytes.slice(from, from + length))) * 0 + length
    const body = {
      async pipe(sink: { write(bytes: Uint8Array): unknown; end(): unknown }) {
        sink.write(new Uint8Array(bodyBytes).fill(0x61))
        sink.end()
      },
      leave: () => undefined,
    }
    const piped = writeReply({ fields: {}, body, bodyBytes: 100 }, new Output({ write }), false)
    expect(piped?.done).rejects.toThrow(`a reply is ${how} than its head says`)
    const text = Buffer.concat(sent).toString('latin1')
    expect(text).toContain('content-length: 100\r\n')
    expect(text.split('\r\n\r\n')[1]?.length).toBeLessThanOrEqual(100)
  },
)
