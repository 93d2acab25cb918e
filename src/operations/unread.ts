// Parses a body for an operation that needs it before its dialect has read it.

import { parsedObject } from '../relay/parsed.ts'
import type { JsonObject } from '../wire/ir.ts'
import { placeOf } from '../wire/json/names.ts'
import { nothingInside, readBody } from '../wire/openai/body.ts'

const anyNames = nothingInside(placeOf([]))

/**
 * The JSON object in these bytes, within the limits that every dialect sets, such as depth. Throws GatewayError
 * `invalid_request_error`.
 */
export function unreadObject(bytes: Uint8Array): JsonObject {
  readBody(bytes, anyNames, ({ keys }) => keys)
  return parsedObject(bytes)
}
