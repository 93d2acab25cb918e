// Parses a client's JSON as a whole, where an attempt must change it.

import { Buffer } from 'node:buffer'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../wire/ir.ts'
import { parsedWithCalls } from '../wire/json/exact.ts'

/**
 * Parses the bytes of a JSON object. Throws GatewayError: the scan at admission checks structure only, so a string in
 * it may still be invalid, such as one with a raw line break.
 */
export function parsedObject(bytes: Uint8Array): JsonObject {
  try {
    return parsedWithCalls(Buffer.from(bytes).toString('utf8')) as JsonObject
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalidRequest('The request body is not valid JSON.', null)
  }
}
