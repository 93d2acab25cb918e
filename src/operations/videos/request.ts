// A new video at the front door: what its model makes, what it is charged for, and how its call is relayed.

import { Buffer } from 'node:buffer'
import { usualSize, videoShape } from '../../catalog/video-shapes.ts'
import { type GatewayError, invalidRequest } from '../../errors.ts'
import type { KeyPrincipal } from '../../identity/principal.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { RelayRequest, ResponseTransform } from '../../relay/request.ts'
import type { VideoRow } from '../../store/video-table.ts'
import { remixField } from '../../vendors/video.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { isObject } from '../../wire/json/value.ts'
import type { Peek } from '../../wire/request.ts'
import type { ModelRoute } from '../model-access.ts'
import { type BeginRooms, startVideo } from './begin.ts'
import { videoOf, workOf } from './work.ts'

/** What an operation does otherwise than others at the door. */
export interface OperationFlow {
  /** The request as it is asked of vendors, and of which. Throws GatewayError. */
  plan(peek: Peek, route: ModelRoute): { readonly peek: Peek; readonly route: ModelRoute }
  /** Once, right before the call. */
  start(asking: Asking): FlowStart
}

export interface Asking {
  readonly requestId: string
  readonly at: number
  readonly principal: KeyPrincipal
  readonly peek: Peek
}

export interface FlowStart {
  readonly settle: NonNullable<RelayRequest['settle']>
  readonly transform: ResponseTransform
  readonly lost: Promise<never>
}

export interface VideoStartRooms {
  readonly dialect: ClientDialect
  readonly begin: BeginRooms
}

/** `source`: the video that this one is made from, of the same account. */
export function videoFlow(rooms: VideoStartRooms, source: VideoRow | null): OperationFlow {
  return {
    plan: (peek, route) => planned(rooms.dialect, source, peek, route),
    start: ({ requestId, at, principal, peek }) => {
      const { prompt, size, seconds } = parsedObject(peek.body)
      return startVideo(rooms.begin, {
        requestId,
        at,
        account: principal.account,
        model: peek.model,
        prompt: String(prompt),
        size: String(size),
        seconds: Number(seconds),
        remixedFrom: source?.id ?? null,
      })
    },
  }
}

/** As OpenAI's own clients write the member in a form. */
const formReference = 'input_reference[image_url]'

/** With its size and length said, so that what is made is what is held for, and each vendor is asked alike. */
function planned(dialect: ClientDialect, source: VideoRow | null, peek: Peek, route: ModelRoute) {
  const { [remixField]: _theirs, [formReference]: address, ...plain } = parsedObject(peek.body)
  const reference = address === undefined ? {} : { input_reference: { image_url: address } }
  const fields: JsonObject = { ...plain, ...reference }
  checkReference(fields)
  const { sizes, seconds, usualSeconds } = videoShape(route.model.id, route.candidates[0]?.model)
  const size = chosen('size', fields['size'], sizes, sizes?.[0] ?? usualSize)
  const length = chosen('seconds', fields['seconds'], seconds?.map(String), String(usualSeconds))
  const asked = { ...fields, size, seconds: length }
  const body = source === null ? asked : { ...asked, [remixField]: { ...workOf(source) } }
  return {
    peek: dialect.client.peek(Buffer.from(JSON.stringify(body), 'utf8')),
    route: source === null ? route : sameChannel(source, route),
  }
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

/** A job is known where it was made, and nowhere else. */
function sameChannel(source: VideoRow, route: ModelRoute): ModelRoute {
  const { channel } = workOf(source)
  const candidates = route.candidates.filter(({ channelId }) => channelId === channel)
  return { ...route, candidates }
}

/** The request that a remix comes to: the source's model, size and length with another prompt. Throws GatewayError. */
export function remixBody(source: VideoRow, body: JsonObject): JsonObject {
  if (source.state !== 'completed') throw notReady(source)
  const { model, size, seconds } = videoOf(source)
  return { ...body, model, size, seconds }
}

export function notReady({ id, state }: VideoRow): GatewayError {
  return invalidRequest(
    state === 'failed'
      ? `The video '${id}' has failed: it has no content.`
      : `The video '${id}' is not ready yet: GET /v1/videos/${id} shows its status.`,
    null,
  )
}
