// Responses that are kept, as their account reads, cancels and removes them.

import { GatewayError, invalidRequest } from '../errors.ts'
import type { FoundResponse } from '../store/responses.ts'
import type { JsonObject } from '../wire/ir.ts'
import { listedItem, outputItems } from '../wire/openai-responses/kept.ts'
import { decodeId } from './endpoints.ts'
import type { Background } from './responses-background.ts'
import { maxKeptBytes, type ResponseKeeper } from './responses-keeper.ts'

export interface ReadRooms {
  readonly keeper: ResponseKeeper
  readonly background: Background
  readonly maxBodyBytes: number
}

const usualItems = 20
const mostItems = 100

/** The id in a path such as `/v1/responses/ID/cancel`. */
export function responseIdIn(pathname: string): string {
  const [, rest = ''] = pathname.split('/responses/')
  return decodeId(rest.split('/')[0] ?? '')
}

/** The response as JSON. Throws GatewayError `not_found`. */
export async function readResponse(rooms: ReadRooms, account: string, url: URL): Promise<string> {
  const id = responseIdIn(url.pathname)
  if (url.searchParams.get('stream') === 'true') {
    throw invalidRequest('stream: a kept response is not streamed again by this gateway.', 'stream')
  }
  return JSON.stringify(shown(await found(rooms, account, id)))
}

/** Also ends one that runs. Throws GatewayError `not_found`. */
export async function removeResponse(
  { keeper, background }: ReadRooms,
  account: string,
  url: URL,
): Promise<string> {
  const id = responseIdIn(url.pathname)
  await keeper.settled(account)
  const removed = await keeper.change({ kind: 'remove', account, id })
  if (removed === 0) throw unknown(id)
  background.stop(account, id)
  return JSON.stringify({ id, object: 'response', deleted: true })
}

/** The response, cancelled or as it had ended before. Throws GatewayError where it was not made in the background. */
export async function cancelResponse(rooms: ReadRooms, account: string, url: URL): Promise<string> {
  const id = responseIdIn(url.pathname)
  const response = shown(await found(rooms, account, id))
  if (response['background'] !== true) {
    throw invalidRequest('Only a response made in the background can be cancelled.', null)
  }
  const { status } = response
  if (status !== 'in_progress' && status !== 'queued') return JSON.stringify(response)
  const body = JSON.stringify({ ...response, status: 'cancelled' })
  if (await rooms.background.cancel(account, id, body)) return body
  return JSON.stringify(shown(await found(rooms, account, id)))
}

/** What the model was given, as a page of a list. Throws GatewayError. */
export async function listInput(rooms: ReadRooms, account: string, url: URL): Promise<string> {
  const id = responseIdIn(url.pathname)
  const { keeper, maxBodyBytes } = rooms
  await found(rooms, account, id)
  const chain = await keeper.table.chain(account, id, Date.now(), maxBodyBytes)
  const items = chain.flatMap((each) => {
    const input = each.input === null ? [] : (JSON.parse(each.input) as JsonObject[])
    const output = each.id === id ? [] : outputItems(JSON.parse(each.body ?? '{}') as JsonObject)
    const base = each.id.replace(/^resp_/, '')
    return [...input.map((item, at) => listedItem(item, `item_${base}_${at}`)), ...output]
  })
  return JSON.stringify(page(items, url.searchParams))
}

function page(items: readonly JsonObject[], asked: URLSearchParams) {
  const order = asked.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc')
    throw invalidRequest('order must be asc or desc', 'order')
  const limit = Number(asked.get('limit') ?? usualItems)
  if (!Number.isInteger(limit) || limit < 1 || limit > mostItems) {
    throw invalidRequest(`limit must be a whole number from 1 to ${mostItems}`, 'limit')
  }
  const ordered = order === 'asc' ? items : [...items].reverse()
  const after = asked.get('after')
  const at = after === null ? -1 : ordered.findIndex((item) => item['id'] === after)
  if (after !== null && at < 0) throw invalidRequest('after is not one of the items', 'after')
  const data = ordered.slice(at + 1, at + 1 + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: at + 1 + limit < ordered.length,
  }
}

async function found({ keeper }: ReadRooms, account: string, id: string): Promise<FoundResponse> {
  const row = await keeper.find(account, id)
  if (row === null) throw unknown(id)
  return row
}

function unknown(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id}' not found.`)
}

function shown({ id, body, abandoned }: FoundResponse): JsonObject {
  if (body === null) {
    throw new GatewayError(
      'not_found',
      `Response '${id}' is larger than ${maxKeptBytes} bytes and was not kept.`,
    )
  }
  const response = JSON.parse(body) as JsonObject
  if (!abandoned) return response
  const message = 'The gateway stopped while it made this response.'
  return { ...response, status: 'failed', error: { code: 'server_error', message } }
}
