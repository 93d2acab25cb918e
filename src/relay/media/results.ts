// What vendors make beside text: fetched from where they keep it, and hosted here for clients that want an address.

import type { Payload, Spool } from '../../vendors/media.ts'
import { createDoor, type DoorOptions, judgedHost } from '../door/door.ts'

export interface Results {
  /** An address that serves the payload to whoever has it, until it expires. Rejects where nothing can be kept. */
  host(payload: Payload, account: string): Promise<string>
  /** Through the guarded door, bounded, to the spool. Throws NotFetched. */
  fetchInto(url: string, spool: Spool): Promise<Payload>
  /** The address to connect to where a vendor named a host of its own; throws NotFetched. */
  judge(url: string): Promise<string>
}

/** To be replaced: nothing is hosted yet, and results are fetched into memory. */
export function createResults(options: DoorOptions): Results {
  const door = createDoor(options)
  return {
    host: () => Promise.reject(new Error('nothing is hosted yet')),
    async fetchInto(url, spool) {
      const { bytes, mediaType } = await door.fetch(url)
      return spool.inMemory(bytes, mediaType)
    },
    judge: (url) => judgedHost(options, url),
  }
}
