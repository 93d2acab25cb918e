// A request for a new video: the sizes and lengths of its model, what it is charged for, and how it is relayed.

import { Buffer } from 'node:buffer'
import type { Authorization } from '../../billing/authorization.ts'
import { usualSize, videoShape } from '../../catalog/video-shapes.ts'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { Call } from '../../relay/call.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { VideoRow, VideoTable } from '../../store/video-table.ts'
import { remixField } from '../../vendors/video.ts'
import type { JsonObject, JsonValue } from '../../wire/ir.ts'
import { isObject } from '../../wire/json/value.ts'
import { mediaRelay } from '../adapters/operation.ts'
import {
  type AdmittedRequest,
  type ClientRequest,
  type CoreServices,
  type Operation,
  type Peeked,
  type Resolved,
  slotWithoutClient,
  type Work,
} from '../operation.ts'
import { idIn } from '../path.ts'
import { resolveModel } from '../resolve.ts'
import { unreadObject } from '../unread.ts'
import { type BeginRooms, startVideo } from './begin.ts'
import { videoOf, workOf } from './work.ts'

interface WithVideos {
  readonly videos: { readonly table: Pick<VideoTable, 'find'>; readonly begin: BeginRooms }
}

export const newVideo: Operation<WithVideos> = {
  dialect: 'openai-videos',
  files: 'pictures',
  resolve: (peeked, services) => planned(peeked, resolveModel(peeked, services), null),
  relay: (request, authorization, services) => begin(request, authorization, services, null),
}

/** A remix: a new video with everything of its source except the prompt. */
export const remix: Operation<WithVideos> = {
  dialect: 'openai-videos',
  files: 'pictures',
  async peek({ dialect, principal, body, address, incoming }, { videos }) {
    if (address.files !== undefined) throw notJson()
    const source = await findVideo(videos, principal.account, sourceIn(incoming))
    return dialect.client.peek(Buffer.from(JSON.stringify(remixBody(source, body)), 'utf8'))
  },
  resolve(peeked, services) {
    const resolved = resolveModel(peeked, services)
    const source = parsedObject(peeked.peek.body)[remixField]
    // Only the channel that made the source knows its job.
    const { channel } = source as JsonObject
    const candidates = resolved.candidates.filter(({ channelId }) => channelId === channel)
    return planned(peeked, { ...resolved, candidates }, source ?? null)
  },
  relay: (request, authorization, services) =>
    begin(request, authorization, services, sourceIn(request.incoming)),
}

function sourceIn({ url }: Pick<ClientRequest, 'url'>): string {
  return idIn(new URL(url).pathname, 'videos')
}

/** `source`: the video of the same account that this one remixes; null: none. */
function begin(
  request: AdmittedRequest,
  authorization: Authorization,
  { videos, relay }: WithVideos & CoreServices,
  source: string | null,
): Work {
  const { requestId, at, principal, peek } = request
  const { prompt, size, seconds } = parsedObject(peek.body)
  const { settle, transform, lost } = startVideo(videos.begin, {
    requestId,
    at,
    account: principal.account,
    model: peek.model,
    prompt: String(prompt),
    size: String(size),
    seconds: Number(seconds),
    remixedFrom: source,
  })
  // A job that has begun belongs to its account, even if the client has left.
  const clientSlot = slotWithoutClient(request.clientSlot)
  const begun = { ...request, clientSlot, settle, transform, authorization }
  const call = new Call(relay, begun, mediaRelay)
  return {
    run: () => Promise.race([call.run(), lost]),
    clientGone: () => undefined,
  }
}

/** The name of the member in forms of OpenAI's clients. */
const formReference = 'input_reference[image_url]'

/** Makes size and length explicit, so that the hold is for what is made, and every vendor is asked for the same. */
function planned({ dialect }: Peeked, resolved: Resolved, source: JsonValue | null): Resolved {
  const { peek, model } = resolved
  // Polling uses the channel's first key: other keys may belong to other accounts at the vendor.
  const candidates = resolved.candidates.filter(({ lane }) => lane === undefined)
  const { [remixField]: _theirs, [formReference]: address, ...plain } = parsedObject(peek.body)
  const reference = address === undefined ? {} : { input_reference: { image_url: address } }
  const fields: JsonObject = { ...plain, ...reference }
  checkReference(fields)
  const { sizes, seconds, usualSeconds } = videoShape(model.id, candidates[0]?.model)
  const size = chosen('size', fields['size'], sizes, sizes?.[0] ?? usualSize)
  const length = chosen('seconds', fields['seconds'], seconds?.map(String), String(usualSeconds))
  const asked = { ...fields, size, seconds: length }
  const body = source === null ? asked : { ...asked, [remixField]: source }
  const asJson = Buffer.from(JSON.stringify(body), 'utf8')
  return { ...resolved, candidates, peek: dialect.client.peek(asJson) }
}

function chosen(
  name: string,
  given: unknown,
  allowed: readonly string[] | null | undefined,
  usual: string,
): string {
  if (typeof given !== 'string') return usual
  if (allowed == null || allowed.includes(given)) return given
  throw invalidRequest(`${name} must be one of ${allowed.join(', ')} for this model`, name)
}

function checkReference(fields: JsonObject): void {
  const { input_reference: reference } = fields
  if (!isObject(reference)) return
  const { image_url: url, file_id: file } = reference
  if (file != null) {
    throw invalidRequest(
      'input_reference.file_id: this gateway keeps no files; send the image itself, or its image_url.',
      'input_reference.file_id',
    )
  }
  if (typeof url === 'string' && /^(https?:\/\/|data:image\/)/.test(url)) return
  throw invalidRequest(
    'input_reference.image_url must be an address (https:) or a data: address of an image',
    'input_reference.image_url',
  )
}

/** The body of a remix: the source's model, size and length with another prompt. Throws GatewayError. */
function remixBody(source: VideoRow, text: Uint8Array): JsonObject {
  const body = unreadObject(text)
  if (source.state !== 'completed') throw notReady(source)
  const { model, size, seconds } = videoOf(source)
  return { ...body, model, size, seconds, [remixField]: { ...workOf(source) } }
}

function notJson(): GatewayError {
  const message = 'The request body must be JSON: send content-type: application/json.'
  return new GatewayError('unsupported_media_type', message)
}

/** Throws GatewayError `not_found`, also for a video of another account. */
export async function findVideo(
  { table }: { readonly table: Pick<VideoTable, 'find'> },
  account: string,
  id: string,
): Promise<VideoRow> {
  const row = await table.find(account, id)
  if (row !== null) return row
  throw new GatewayError('not_found', `Video with id '${id}' not found.`)
}

export function notReady({ id, state }: VideoRow): GatewayError {
  return invalidRequest(
    state === 'failed'
      ? `The video '${id}' has failed: it has no content.`
      : `The video '${id}' is not ready yet: GET /v1/videos/${id} shows its status.`,
    null,
  )
}
