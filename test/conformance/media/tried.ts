// One cell of a media table: requested with the official client, and the result.

import OpenAI from 'openai'
import type { VendorDialectId } from '../../../src/wire/formats.ts'
import type { Row } from './rows.ts'
import { vendorsOwn } from './server.ts'

export interface Feature {
  readonly name: string
  readonly dialect: VendorDialectId
  /**
   * Requests, decodes and checks the result; throws if it is not as the vendor made it. Returns `not offered` if the
   * reply is right but lacks the feature. `mark`: the requests so far were only preparations for the feature.
   */
  ask(client: OpenAI, row: Row, mark: () => void): Promise<undefined | 'not offered'>
}

export const cells = ['works', 'refused', 'refused by vendor', 'not offered'] as const
export type Cell = (typeof cells)[number]

export interface Trying {
  readonly client: OpenAI
  readonly row: Row
  /** Whether the row's vendor speaks the feature's format. */
  readonly spoken: boolean
  /** The number of requests that the vendor got. */
  sent(): number
}

/** Rejects if there is neither a right result nor a clear refusal. */
export async function tried(
  feature: Feature,
  { client, row, spoken, sent }: Trying,
): Promise<Cell> {
  let before = sent()
  const mark = () => {
    before = sent()
  }
  try {
    const found = (await feature.ask(client, row, mark)) ?? 'works'
    if (found === 'works' && !spoken) throw new Error('it works, but the vendor does not speak it')
    return found
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error
    const nothing = sent() === before
    if (!spoken && nothing && (error.status === 404 || error.status === 400)) return 'not offered'
    if (error.status !== 400 || error.message.length < 20) throw error
    if (nothing) return 'refused'
    // A request that the gateway itself refuses must not have reached a vendor.
    if (error.message.includes(vendorsOwn)) return 'refused by vendor'
    throw error
  }
}

export function check(right: boolean, message: string): asserts right {
  if (!right) throw new Error(message)
}

export function alike(seen: unknown, expected: unknown, name: string): void {
  if (!Bun.deepEquals(seen, expected))
    throw new Error(`${name}: ${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`)
}
