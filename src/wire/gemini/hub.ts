// The Gemini format's codec to and from the hub.

import type { ClientHub, VendorHub } from '../codec.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { GeminiReader } from './reader.ts'
import { GeminiWriter, writeWhole } from './writer.ts'

export const geminiHub: ClientHub & VendorHub = {
  decodeRequest,
  encodeRequest,
  oneText: true,
  anyReply: true,
  saysPictures: true,
  // Google fetches public addresses over HTTPS alone (ai.google.dev, "File input methods").
  needsBytes: ({ url }) => /^http:/i.test(url),
  reader: (quirks) => new GeminiReader(quirks),
  readWhole: (body, quirks) => new GeminiReader(quirks).whole(body),
  writer: (head) => new GeminiWriter(head),
  writeWhole,
}
