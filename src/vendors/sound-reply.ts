// Reads the answer of a speech vendor: the audio as it arrives, or the fault that an error means.

import { unreadable } from './audio-fields.ts'
import type { MediaTools, Payload, SoundReply, VendorStream } from './media.ts'

/** The most bytes read of an error's body. */
const maxErrorBytes = 65_536

/** Rejects with MediaFault where the reply is not audio. */
export async function soundReply(
  stream: VendorStream,
  type: string,
  tools: MediaTools,
): Promise<SoundReply> {
  const success = stream.status >= 200 && stream.status < 300
  const said = stream.header('content-type') ?? ''
  if (success && !/json|text\//i.test(said))
    return { kind: 'sound', type, chunks: stream.chunks, usage: () => null }
  const payload = await readWhole(stream, tools)
  const { status } = stream
  const json = () => {
    throw unreadable('an error is not read as JSON')
  }
  if (success) throw unreadable(`the vendor answered ${said} in place of sound`)
  throw tools.faultOf({ status, header: (name) => stream.header(name), payload, json })
}

async function readWhole({ chunks }: VendorStream, { spool }: MediaTools) {
  const keeper = spool.keeper('application/json')
  let byteCount = 0
  for await (const chunk of chunks) {
    byteCount += chunk.length
    keeper.push(chunk)
    if (byteCount > maxErrorBytes) break
  }
  return keeper.end()
}

const pieceBytes = 65_536

/** Yields a payload in pieces. */
export function* piecesOf(payload: Payload): Generator<Uint8Array> {
  for (let at = 0; at < payload.size; at += pieceBytes)
    yield payload.read(at, Math.min(payload.size, at + pieceBytes))
}
