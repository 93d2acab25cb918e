// Undoes a content coding the vendor used although none was asked for, within bounds.

import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { DialExchange } from './connection.ts'

const maxDecodedBytes = 67_108_864
/** Past the first MiB, more growth than this is a bomb and not a reply. */
const maxRatio = 200
const freeBytes = 1_048_576

export interface ContentDecoder {
  bytes(chunk: Uint8Array): void
  finish(): void
  abort(): void
}

/** A decoder pushing into the exchange's handler, which also hears of an unknown coding or broken data. */
export function decoderFor(coding: string, exchange: DialExchange): ContentDecoder {
  const stream = streamFor(coding)
  if (stream === null) return unknownCoding(coding, exchange)
  let taken = 0
  let given = 0
  const stop = (message: string) => {
    stream.destroy()
    exchange.connection?.destroy()
    exchange.fail({ kind: 'unreadable', message, unsent: false })
  }
  stream.on('data', (chunk: Uint8Array) => {
    if (exchange.over) return
    given += chunk.length
    if (given > maxDecodedBytes || (given > freeBytes && given > taken * maxRatio)) {
      stop('the reply grows too much when decompressed')
    } else exchange.handler.bytes(chunk)
  })
  stream.on('error', () => stop('the reply is not valid compressed data'))
  stream.on('end', () => {
    if (exchange.over) return
    exchange.over = true
    exchange.handler.end()
  })
  return {
    bytes(chunk) {
      taken += chunk.length
      stream.write(chunk)
    },
    finish: () => stream.end(),
    abort: () => stream.destroy(),
  }
}

function streamFor(coding: string): Transform | null {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  if (coding === 'br') return createBrotliDecompress()
  if (coding === 'zstd') return createZstdDecompress()
  return null
}

function unknownCoding(coding: string, exchange: DialExchange): ContentDecoder {
  const refuse = () =>
    exchange.fail({
      kind: 'unreadable',
      message: `the reply has the unknown coding ${coding.slice(0, 40)}`,
      unsent: false,
    })
  return { bytes: refuse, finish: refuse, abort: () => undefined }
}
