// Loads the files of a kept message, which its bodies name `blob:ID`.

import { Problem, problemOf } from '../../api/client.ts'
import { apiAddress } from '../../api/viewing.ts'
import { openBlob } from './unseal.ts'

/** Rejects with Problem if there is no such file, or no connection. */
export type LoadBlob = (blob: string, signal: AbortSignal) => Promise<Blob>

const loadFrom =
  (folder: string): LoadBlob =>
  async (blob, signal) => {
    const reply = await fetch(apiAddress(`${folder}/${blob}`), { signal }).catch(() => null)
    if (reply === null) throw new Problem(0, 'offline', 'The gateway cannot be reached.')
    if (!reply.ok) throw await problemOf(reply)
    return reply.blob()
  }

export const keptBlobs = (id: string): LoadBlob =>
  loadFrom(`/api/history/${encodeURIComponent(id)}/blobs`)

/** For operators, of any account; each reading is recorded. */
export const inspectedBlobs = (id: string): LoadBlob =>
  loadFrom(`/api/admin/history/${encodeURIComponent(id)}/blobs`)

/** Sealed with the data key of the message; the type is not sealed. */
export const sealedBlobs =
  (id: string, key: CryptoKey): LoadBlob =>
  async (blob, signal) => {
    const sealed = await keptBlobs(id)(blob, signal)
    const bytes = new Uint8Array(await sealed.arrayBuffer())
    return new Blob([await openBlob(bytes, id, key)], { type: sealed.type })
  }
