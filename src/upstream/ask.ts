// Sends one request and reads its whole reply, bounded in size and time: for services that an operator configures.

import { Buffer } from 'node:buffer'
import type { ReplyHandler } from '../vendors/transport.ts'
import type { Dialer } from './dial.ts'

interface Question {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** A redirect is a reply like any other and is not followed. */
interface WholeReply {
  readonly status: number
  readonly text: string
}

interface ReplyWithHeader extends WholeReply {
  readonly bytes: Uint8Array
  /** Null where the reply has no header of this name. */
  header(name: string): string | null
}

interface AskOptions {
  readonly dialer: Dialer
  /** The most bytes of the reply's body. */
  readonly maxBytes: number
  /** The time for the whole exchange. */
  readonly timeoutMs: number
}

/** No readable reply arrived; the message names no secret. */
class NotAnswered extends Error {
  override readonly name = 'NotAnswered'
}

/** Rejects with NotAnswered where no reply arrives in time, or a larger one than `maxBytes`. */
export async function ask(options: AskOptions, question: Question): Promise<WholeReply> {
  const { status, text } = await askWithHeader(options, question)
  return { status, text }
}

/** Like `ask`, but with the reply's headers and raw bytes, for replies that are signed in a header. */
export async function askWithHeader(
  options: AskOptions,
  question: Question,
): Promise<ReplyWithHeader> {
  const { promise, resolve, reject } = Promise.withResolvers<ReplyWithHeader>()
  const { dialer, maxBytes, timeoutMs } = options
  const chunks: Uint8Array[] = []
  let byteCount = 0
  let replyStatus = 0
  let header: ReplyWithHeader['header'] = () => null
  const handler: ReplyHandler = {
    head(status, headerOf) {
      replyStatus = status
      header = headerOf
    },
    bytes(chunk) {
      byteCount += chunk.length
      if (byteCount > maxBytes)
        reject(new NotAnswered(`its reply is larger than ${maxBytes} bytes`))
      else chunks.push(chunk)
    },
    end() {
      const bytes = Buffer.concat(chunks)
      resolve({ status: replyStatus, text: bytes.toString('utf8'), bytes, header })
    },
    fault: ({ message }) => reject(new NotAnswered(message)),
  }
  const segments = question.body === undefined ? [] : [Buffer.from(question.body)]
  const call = { segments, connectMs: timeoutMs, sendIdleMs: timeoutMs, onKept: 'avoid' as const }
  const exchange = dialer.open({ destination: destinationOf(question), ...call }, handler)
  const timer = setTimeout(() => reject(new NotAnswered('it took too long')), timeoutMs)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    exchange.abort()
  }
}

function destinationOf({ method, url: text, headers }: Question) {
  const url = new URL(text)
  const tls = url.protocol === 'https:'
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    origin: url.origin,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
    tls,
    head:
      `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${fields.join('')}` +
      'user-agent: tollgate\r\naccept-encoding: identity\r\nconnection: close\r\ncontent-length: ',
  }
}
