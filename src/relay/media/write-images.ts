// Images in OpenAI's form: as base64 or as addresses, whichever the client asked for.

import { type ImagesReply, type MediaCall, MediaFault, type Picture } from '../../vendors/media.ts'
import type { WriteRooms, Written } from './written.ts'

/** A multiple of three, so that pieces of base64 join without padding. */
const pieceBytes = 196_608
const encoder = new TextEncoder()

/** Addresses unless the client asked for base64; the newer models know base64 alone, and their adapters ask for it. */
export async function writeImages(
  reply: ImagesReply,
  call: MediaCall,
  rooms: WriteRooms,
): Promise<Written> {
  const wantsBase64 = call.fields['response_format'] === 'b64_json'
  const images: Picture[] = []
  for (const image of reply.images) images.push(await inForm(image, wantsBase64, rooms))
  if (images.length === 0)
    throw new MediaFault({ kind: 'unreadable', message: 'the vendor made no image' })
  return { type: 'application/json', chunks: json(reply, images, rooms.createdAt) }
}

async function inForm(image: Picture, wantsBase64: boolean, rooms: WriteRooms): Promise<Picture> {
  const { results, spool, account } = rooms
  const payload =
    image.payload ?? (image.url === undefined ? null : await results.fetchInto(image.url, spool))
  if (payload === null)
    throw new MediaFault({ kind: 'unreadable', message: 'an image without its bytes' })
  const { revisedPrompt } = image
  const revised = revisedPrompt === undefined ? {} : { revisedPrompt }
  if (wantsBase64) return { payload, ...revised }
  return { url: await results.host(payload, account), ...revised }
}

async function* json(
  { usage, said = {} }: ImagesReply,
  images: readonly Picture[],
  createdAt: number,
): AsyncGenerator<Uint8Array> {
  yield encoder.encode(`{"created":${createdAt},"data":[`)
  for (const [at, { payload, url, revisedPrompt }] of images.entries()) {
    yield encoder.encode(at === 0 ? '{' : ',{')
    if (revisedPrompt !== undefined)
      yield encoder.encode(`"revised_prompt":${JSON.stringify(revisedPrompt)},`)
    if (payload === undefined) yield encoder.encode(`"url":${JSON.stringify(url)}`)
    else {
      yield encoder.encode('"b64_json":"')
      for (let start = 0; start < payload.size; start += pieceBytes) {
        const piece = payload.read(start, Math.min(payload.size, start + pieceBytes))
        yield encoder.encode(piece.toBase64())
      }
      yield encoder.encode('"')
    }
    yield encoder.encode('}')
  }
  const rest = { ...said, ...(usage !== null && { usage }) }
  const members = JSON.stringify(rest).slice(1, -1)
  yield encoder.encode(members === '' ? ']}' : `],${members}}`)
}
