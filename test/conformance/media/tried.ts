// One cell of a media table: asked with the official client, and what came of it.

import OpenAI from 'openai'
import type { VendorDialectId } from '../../../src/wire/formats.ts'
import type { Row } from './rows.ts'
import { vendorsOwn } from './server.ts'

export interface Feature {
  readonly name: string
  readonly dialect: VendorDialectId
  /**
   * Asks, decodes and checks what comes; throws where it is not as the vendor made it. `not offered` where the reply is
   * right but has nothing of the feature. `mark`: what was sent until now was only what the feature needs.
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
  /** Requests the vendor has had. */
  sent(): number
}

/** Rejects with what is neither a right result nor a clear refusal. */
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
    // What the gateway itself refuses must not have been asked of a vendor.
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
