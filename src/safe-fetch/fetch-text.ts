// Fetches a document that the operator names, by safe fetch.

import { createDialer } from '../upstream/dial.ts'
import { createSafeFetch } from './safe-fetch.ts'

const bounds = { maxBytes: 67_108_864, timeoutMs: 60_000, accept: 'application/json' }

/** Throws NotFetched. The operator's own address is asked wherever it is; where it sends us on to must be public. */
export async function fetchText(address: string): Promise<string> {
  const dialer = createDialer()
  try {
    const safeFetch = createSafeFetch({ ...bounds, dialer, home: new URL(address).origin })
    return new TextDecoder().decode((await safeFetch.fetch(address)).bytes)
  } finally {
    dialer.close()
  }
}
