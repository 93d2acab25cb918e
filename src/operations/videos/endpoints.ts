// The endpoints of videos: which of them asks what, by whom it may be asked, and the reply.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../../errors.ts'
import { checkHeaderBytes } from '../../http/body/head.ts'
import { checkContentType } from '../../http/body/incoming.ts'
import { declaredLength, readBody } from '../../http/body/read.ts'
import type { VideoEndpoint } from '../../http/endpoints.ts'
import type { FrontRooms } from '../../http/front-rooms.ts'
import { type ClientConnection, ModelRequest } from '../../http/model-request.ts'
import type { Fields } from '../../http/respond.ts'
import { authenticate } from '../../identity/authenticate.ts'
import type { KeyPrincipal } from '../../identity/principal.ts'
import { parsedObject } from '../../relay/parsed.ts'
import type { VideoRow } from '../../store/video-table.ts'
import {
  findVideo,
  listVideos,
  readContent,
  readVideo,
  removeVideo,
  streamOf,
  videoIdIn,
} from './read.ts'
import { remixBody, videoFlow } from './request.ts'

export interface VideoAsking {
  readonly request: Request
  /** Headers of the reply. */
  readonly fields: Fields
  readonly connection: ClientConnection
}

/** JSON as text, or a whole reply. Throws GatewayError. */
export async function answerVideo(
  rooms: FrontRooms,
  kind: VideoEndpoint['kind'],
  asking: VideoAsking,
): Promise<string | Response> {
  if (kind === 'video-begin') return begin(rooms, asking, asking.request, null)
  const { request, fields } = asking
  const url = new URL(request.url)
  const principal = known(rooms, request)
  const { account } = principal
  switch (kind) {
    case 'videos':
      return listVideos(rooms.videos, account, url)
    case 'video':
      return readVideo(rooms.videos, account, url, fields)
    case 'video-removal':
      return removeVideo(rooms.videos, account, url)
    case 'video-content':
      return content(rooms, principal, asking, url)
    case 'video-remix':
      return remix(rooms, principal, asking, url)
  }
}

function known({ server, keyring }: FrontRooms, { headers }: Request): KeyPrincipal {
  checkHeaderBytes(headers, server.maxHeaderBytes)
  return authenticate(headers, keyring, Date.now(), null)
}

async function begin(
  rooms: FrontRooms,
  { connection }: VideoAsking,
  request: Request,
  source: VideoRow | null,
): Promise<Response> {
  // A vendor may take its time for as long as the runtime lets no connection rest.
  connection.setIdleSeconds(0)
  const { videos } = rooms
  const flow = videoFlow(videos, source)
  return new ModelRequest(rooms, videos.dialect, request, connection, {}, flow).respond()
}

/** A new video with all of its source's but the prompt. */
async function remix(
  rooms: FrontRooms,
  { account }: KeyPrincipal,
  asking: VideoAsking,
  url: URL,
): Promise<Response> {
  const { request } = asking
  const source = await findVideo(rooms.videos, account, videoIdIn(url.pathname))
  checkContentType(request.headers.get('content-type'))
  const { server, relay } = rooms
  const bounds = {
    maxBytes: server.maxBodyBytes,
    timeoutMs: server.bodyTimeoutMs,
    grow: () => undefined,
  }
  const length = declaredLength(request, bounds.maxBytes)
  const body = parsedObject(await readBody(request, length, bounds, relay.deadlines))
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw invalidRequest('The request body is not a JSON object.', null)
  const headers = new Headers(request.headers)
  headers.delete('content-length')
  headers.delete('transfer-encoding')
  const text = JSON.stringify(remixBody(source, body))
  const whole = new Request(url, { method: 'POST', headers, body: Buffer.from(text, 'utf8') })
  return begin(rooms, asking, whole, source)
}

/** It counts as under way for as long as it is fetched. */
async function content(
  rooms: FrontRooms,
  { account }: KeyPrincipal,
  { request, fields, connection }: VideoAsking,
  url: URL,
): Promise<Response> {
  const { load, server } = rooms
  load.enter(0, server)
  let opened = false
  try {
    const range = request.headers.get('range')
    const bytes = await readContent(rooms.videos, account, url, range)
    opened = true
    const headers = { ...fields, ...bytes.headers }
    if (request.method === 'HEAD') {
      bytes.close()
      load.leave(0)
      return new Response(null, { status: bytes.status, headers })
    }
    connection.setIdleSeconds(0)
    const stream = streamOf(bytes, () => load.leave(0))
    return new Response(stream, { status: bytes.status, headers })
  } finally {
    if (!opened) load.leave(0)
  }
}
