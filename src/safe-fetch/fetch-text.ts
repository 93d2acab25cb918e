// Fetches a document that the operator names, through safe fetch.

import { createDialer } from '../upstream/dial.ts'
import { createSafeFetch } from './safe-fetch.ts'

const bounds = { maxBytes: 67_108_864, timeoutMs: 60_000, accept: 'application/json' }

/** The operator's own address may be anywhere; redirects must lead to the public internet. Throws NotFetched. */
export async function fetchText(address: string): Promise<string> {
  const dialer = createDialer()
  try {
    const safeFetch = createSafeFetch({ ...bounds, dialer, home: new URL(address).origin })
    return new TextDecoder().decode((await safeFetch.fetch(address)).bytes)
  } finally {
    dialer.close()
  }
}
