// Undoes a content coding the vendor used although none was asked for, within bounds.

import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { ReplyHandler } from '../vendors/transport.ts'

const maxDecodedBytes = 67_108_864
/** Past the first MiB, more growth than this is a bomb and not a reply. */
const maxRatio = 200
const freeBytes = 1_048_576

/** The call whose reply is decoded. */
interface DecodedCall {
  readonly over: boolean
  readonly handler: ReplyHandler
  /** Tells the handler that all has come. */
  finished(): void
  /** Drops the connection and tells the handler why. */
  broken(message: string): void
}

export interface ContentDecoder {
  bytes(chunk: Uint8Array): void
  finish(): void
  abort(): void
}

/** A decoder pushing into the exchange's handler, which is also given an unknown coding or broken data as a fault. */
export function decoderFor(coding: string, exchange: DecodedCall): ContentDecoder {
  const stream = streamFor(coding)
  if (stream === null) return unknownCoding(coding, exchange)
  let given = 0
  const stop = (message: string) => {
    stream.destroy()
    exchange.broken(message)
  }
  stream.on('data', (chunk: Uint8Array) => {
    if (exchange.over) return
    given += chunk.length
    if (given > maxDecodedBytes || (given > freeBytes && given > stream.bytesWritten * maxRatio)) {
      stop('the reply grows too much when decompressed')
    } else exchange.handler.bytes(chunk)
  })
  stream.on('error', () => stop('the reply is not valid compressed data'))
  stream.on('end', () => exchange.finished())
  return {
    bytes(chunk) {
      stream.write(chunk)
    },
    finish: () => stream.end(),
    abort: () => stream.destroy(),
  }
}

/** `bytesWritten` are those already decompressed, not those that wait: only they tell how much a reply grows. */
type Decompressor = Transform & { readonly bytesWritten: number }

function streamFor(coding: string): Decompressor | null {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip()
  if (coding === 'deflate') return createInflate()
  if (coding === 'br') return createBrotliDecompress()
  if (coding === 'zstd') return createZstdDecompress()
  return null
}

function unknownCoding(coding: string, exchange: DecodedCall): ContentDecoder {
  const refuse = () => exchange.broken(`the reply has the unknown coding ${coding.slice(0, 40)}`)
  return { bytes: refuse, finish: refuse, abort: () => undefined }
}
