// Decodes a content coding that a vendor used although none was asked for, within bounds.

import type { Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { ReplyHandler } from '../vendors/transport.ts'

const maxDecodedBytes = 67_108_864
/** Beyond the first MiB, a higher ratio of decompressed to compressed bytes is treated as a decompression bomb. */
const maxRatio = 200
const freeBytes = 1_048_576

/** The call whose reply is decoded. */
interface DecodedCall {
  readonly over: boolean
  readonly handler: ReplyHandler
  /** Tells the handler that the reply is complete. */
  finished(): void
  /** Drops the connection and tells the handler why. */
  broken(message: string): void
}

export interface ContentDecoder {
  bytes(chunk: Uint8Array): void
  finish(): void
  abort(): void
}

/** A decoder that pushes into the exchange's handler; an unknown coding or broken data reaches it as a fault. */
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

/** `bytesWritten` counts bytes already decompressed, not those still queued; the ratio needs exactly that. */
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
