// The legacy completion format's side of the hub: its clients over models that chat.

import type { ClientHub, VendorHub } from '../codec.ts'
import { CompletionReader, CompletionWriter, writeWhole } from './hub-reply.ts'
import { decodeRequest, encodeRequest } from './hub-request.ts'

export const completionsHub: ClientHub & VendorHub = {
  decodeRequest,
  encodeRequest,
  reader: (quirks) => new CompletionReader(quirks),
  readWhole: (body, quirks) => new CompletionReader(quirks).whole(body),
  writer: (head) => new CompletionWriter(head),
  writeWhole,
}
