// Lets an account read, cancel and remove its stored responses.

import { GatewayError, invalidRequest } from '../../errors.ts'
import type { FoundResponse } from '../../store/responses.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { JsonObject } from '../../wire/ir.ts'
import { listedItem, outputItems } from '../../wire/openai-responses/kept.ts'
import type { Reading, Reply } from '../operation.ts'
import { idIn } from '../path.ts'
import type { Background } from './background.ts'
import { maxKeptBytes, type ResponseKeeper } from './keeper.ts'
import { Elsewhere, endedSource, follow, isRunning } from './live.ts'

interface ReadRooms {
  readonly keeper: ResponseKeeper
  readonly background: Background
  readonly maxBodyBytes: number
  readonly heartbeatMs: number
  readonly dialect: ClientDialect
}

const usualItems = 20
const mostItems = 100

/** A request of an account for its own data. */
type OwnReading = Pick<Reading, 'principal' | 'url'>

interface WithResponses {
  readonly responses: ReadRooms
}

/** The response as JSON, or with `stream=true` as its events. Throws GatewayError `not_found`. */
export async function readResponse(
  { principal, url }: OwnReading,
  { responses: rooms }: WithResponses,
): Promise<Reply> {
  const { account } = principal
  const id = responseIdIn(url)
  const { searchParams } = url
  const streamed = isTrue(searchParams.get('stream'))
  const after = afterIn(searchParams.get('starting_after'), streamed)
  const response = shown(await found(rooms, account, id))
  return streamed
    ? { body: followed(rooms, account, response, after), stream: true }
    : { body: JSON.stringify(response) }
}

function responseIdIn({ pathname }: URL): string {
  return idIn(pathname, 'responses')
}

/** Accepts both spellings of official clients: Python's is `True`. */
function isTrue(text: string | null): boolean {
  return text === 'true' || text === 'True'
}

function afterIn(text: string | null, streamed: boolean): number {
  if (text === null) return -1
  if (!streamed)
    throw invalidRequest('starting_after is only allowed with stream=true', 'starting_after')
  if (!/^\d{1,9}$/.test(text))
    throw invalidRequest('starting_after must be a whole number', 'starting_after')
  return Number(text)
}

function followed(rooms: ReadRooms, account: string, response: JsonObject, after: number) {
  const { keeper, background, heartbeatMs, dialect } = rooms
  const id = String(response['id'])
  const read = async () => {
    const row = await keeper.table.find(account, id, Date.now())
    return row === null ? null : shown(row)
  }
  const source = isRunning(response)
    ? (background.live(account, id) ?? new Elsewhere(keeper, account, id, response, read))
    : endedSource(response)
  return follow(source, { after, heartbeatMs, heartbeat: dialect.client.heartbeat })
}

/** Also stops a response that is running. Throws GatewayError `not_found`. */
export async function removeResponse(
  { principal, url }: OwnReading,
  { responses: { keeper, background } }: WithResponses,
): Promise<Reply> {
  const { account } = principal
  const id = responseIdIn(url)
  const isKept = (await keeper.find(account, id)) !== null
  if (!isKept || (await keeper.change({ kind: 'remove', account, id })) === 0) throw unknown(id)
  background.stop(account, id)
  return { body: JSON.stringify({ id, object: 'response', deleted: true }) }
}

/** The response, cancelled, or as it had already ended. Throws GatewayError where it was not made in the background. */
export async function cancelResponse(
  { principal, url }: OwnReading,
  { responses: rooms }: WithResponses,
): Promise<Reply> {
  const { account } = principal
  const id = responseIdIn(url)
  const response = shown(await found(rooms, account, id))
  if (response['background'] !== true) {
    throw invalidRequest('Only a response made in the background can be cancelled.', null)
  }
  if (!isRunning(response)) return { body: JSON.stringify(response) }
  const cancelled = await rooms.background.cancel(account, id, response)
  return { body: JSON.stringify(cancelled ?? shown(await found(rooms, account, id))) }
}

/** The model's input items, as a page of a list. Throws GatewayError. */
export async function listInput(
  { principal, url }: OwnReading,
  { responses: rooms }: WithResponses,
): Promise<Reply> {
  const { account } = principal
  const id = responseIdIn(url)
  const { keeper, maxBodyBytes } = rooms
  await found(rooms, account, id)
  const chain = await keeper.table.chain(account, id, Date.now(), maxBodyBytes)
  const items = chain.flatMap((each) => {
    const input = each.input === null ? [] : (JSON.parse(each.input) as JsonObject[])
    const output = each.id === id ? [] : outputItems(JSON.parse(each.body ?? '{}') as JsonObject)
    const base = each.id.replace(/^resp_/, '')
    return [...input.map((item, at) => listedItem(item, `item_${base}_${at}`)), ...output]
  })
  return { body: JSON.stringify(page(items, url.searchParams)) }
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
