// Prepares a request to compact a conversation: puts the stored conversation before its input.

import { parsedObject } from '../../relay/parsed.ts'
import { keepingIn, replayed, withHistory } from '../../wire/openai-responses/kept.ts'
import {
  type Asking,
  bytesOf,
  checkKeeping,
  historyOf,
  ownInput,
  type Prepared,
  type ResponseRooms,
  refersToItems,
} from './request.ts'

/** Throws GatewayError; code `previous_response_not_found` where nothing is stored. The reply is not stored. */
export async function prepareCompaction(rooms: ResponseRooms, asking: Asking): Promise<Prepared> {
  const { account, peek, dialect } = asking
  const keeping = keepingIn(peek)
  checkKeeping(rooms, keeping)
  const { previousResponseId } = keeping
  const unchanged = { transform: null, background: null }
  if (previousResponseId === null && !refersToItems(peek)) {
    return { peek, rebuilt: false, ...unchanged }
  }
  const before =
    previousResponseId === null ? [] : await historyOf(rooms, account, previousResponseId)
  const own = await ownInput(rooms, asking, before)
  const body = { ...parsedObject(peek.body), input: own.map(replayed) }
  const whole = withHistory(body, before.map(replayed), rooms.maxBodyBytes)
  const made = dialect.client.peek(bytesOf(whole, rooms.maxBodyBytes))
  return { peek: made, rebuilt: true, ...unchanged }
}
