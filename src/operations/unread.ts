// A body that an operation looks into before its format has read it.

import { parsedObject } from '../relay/parsed.ts'
import type { JsonObject } from '../wire/ir.ts'
import { placeOf } from '../wire/json/names.ts'
import { nothingInside, readBody } from '../wire/openai/body.ts'

const anyNames = nothingInside(placeOf([]))

/**
 * The JSON object of these bytes, held to what every format holds its bodies to: the runtime's own reader goes as deep as
 * they do. Throws GatewayError `invalid_request_error`.
 */
export function unreadObject(bytes: Uint8Array): JsonObject {
  readBody(bytes, anyNames, ({ keys }) => keys)
  return parsedObject(bytes)
}
