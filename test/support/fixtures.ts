// The fixtures of vendors: documented and recorded replies, each with its expected meaning.

import { readdirSync, readFileSync } from 'node:fs'
import type { VendorDialectId } from '../../src/wire/formats.ts'
import type { JsonObject, JsonValue, Usage } from '../../src/wire/ir.ts'
import type { Address } from '../../src/wire/request.ts'

export interface Expected {
  readonly text?: string
  readonly reasoning?: string
  readonly toolCalls?: readonly { id: string; name: string; arguments: string }[]
  readonly finishReason?: string
  readonly usage?: Usage
  readonly vectors?: readonly (readonly number[])[]
  readonly ranking?: readonly { readonly index: number; readonly score: number }[]
  readonly fault?: { kind: string; code?: string; param?: string; retryAfterMs?: number }
}

export interface Fixture {
  readonly source: 'documented' | 'recorded'
  readonly from: string
  readonly dialect: VendorDialectId
  readonly model: string
  readonly request: JsonObject
  readonly reply: {
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>>
    /** A string is used as it is, anything else as its JSON. */
    readonly body?: JsonValue
    readonly stream?: readonly string[]
    readonly comments?: readonly string[]
    /** False if the stream ends without `[DONE]`. */
    readonly done?: boolean
  }
  readonly expect: Expected
}

export interface Case {
  readonly vendor: string
  readonly name: string
  readonly fixture: Fixture
}

const root = new URL('../fixtures/vendors/', import.meta.url)

export function casesOf(vendor: string): Case[] {
  return readdirSync(new URL(`${vendor}/`, root)).map((file) => ({
    vendor,
    name: file.replace(/\.json$/, ''),
    fixture: JSON.parse(readFileSync(new URL(`${vendor}/${file}`, root), 'utf8')),
  }))
}

/** Taken from the address of the request, for formats that name the model there. */
export function addressOf({ dialect, model, reply }: Fixture): Address {
  return dialect === 'gemini' ? { model, stream: reply.stream !== undefined } : {}
}

export const vendorFolders: readonly string[] = readdirSync(root)

/** The reply's body as sent on the connection. */
export function bytesOf({ dialect, reply }: Fixture): string {
  if (reply.stream === undefined) {
    return typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
  }
  const comments = (reply.comments ?? []).map((comment) => `: ${comment}\n\n`)
  const frames = reply.stream.map((data) => `${eventLine(dialect, data)}data: ${data}\n\n`)
  return [...comments, ...frames, reply.done === false ? '' : 'data: [DONE]\n\n'].join('')
}

/** Anthropic names each event beside its data. */
function eventLine(dialect: Fixture['dialect'], data: string): string {
  return dialect === 'anthropic-messages' ? `event: ${JSON.parse(data).type}\n` : ''
}
