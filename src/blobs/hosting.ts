// Hosts results for whoever has their URL, before it expires.

import { MediaFault, type Payload } from '../vendors/media.ts'
import { sniffedType } from '../wire/media/sniff.ts'
import { type HostedFile, newFile } from './hosted.ts'

export interface FileStore {
  /**
   * Stores the bytes for as long as the file lives. Returns the URL they are served at, below `origin` where the
   * gateway serves them. Rejects with MediaFault where there is no space, or the store is not available.
   */
  put(file: HostedFile, payload: Payload, origin: string): Promise<string>
  /** Removes expired files. */
  sweep(nowMs: number): Promise<void>
}

export interface Hosting {
  /** See `FileStore.put`. */
  host(payload: Payload, account: string, origin: string): Promise<string>
  /** Whether the last few results were refused, one within the last minute: more would be made in vain. */
  isRefusing?(): boolean
}

interface HostingOptions {
  readonly store: FileStore
  readonly urlHours: number
  readonly nowMs: () => number
  /** Called for each stored file: its URL does not say which account it belongs to. */
  readonly hosted: (account: string, file: HostedFile, bytes: number) => void
}

/** The bytes read and written at once. */
const pieceBytes = 262_144
const refusingMs = 60_000
/** One may fail for a reason of its own, such as a connection that broke. */
const fewRefusals = 3

export function createHosting({ store, urlHours, nowMs, hosted }: HostingOptions): Hosting {
  let refusals = 0
  let refusedMs = 0
  return {
    async host(payload, account, origin) {
      const expires = Math.floor(nowMs() / 1_000) + urlHours * 3_600
      const file = newFile(sniffedType(payload) ?? payload.type, expires)
      try {
        const address = await store.put(file, payload, origin)
        hosted(account, file, payload.size)
        refusals = 0
        return address
      } catch (error) {
        refusals += 1
        refusedMs = nowMs()
        throw error
      }
    },
    isRefusing: () => refusals >= fewRefusals && nowMs() - refusedMs < refusingMs,
  }
}

export function* piecesOf(payload: Payload): Generator<Uint8Array> {
  for (let start = 0; start < payload.size; start += pieceBytes)
    yield payload.read(start, Math.min(payload.size, start + pieceBytes))
}

/** A fault without failover: the vendor has done its work, and no other should repeat it. */
export function notKept(why: string): MediaFault {
  return new MediaFault({ kind: 'no_room', message: `a result cannot be hosted: ${why}` })
}
