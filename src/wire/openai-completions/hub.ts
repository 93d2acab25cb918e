// The legacy completion format's codec to and from the hub, for its clients on chat models and its vendors.

import type { ClientHub, VendorHub } from '../codec.ts'
import { CompletionReader, CompletionWriter, writeWhole } from './hub-reply.ts'
import { decodeRequest, encodeRequest } from './hub-request.ts'

export const completionsHub: ClientHub & VendorHub = {
  decodeRequest,
  encodeRequest,
  oneText: true,
  reader: (quirks) => new CompletionReader(quirks),
  readWhole: (body, quirks) => new CompletionReader(quirks).whole(body),
  writer: (head) => new CompletionWriter(head),
  writeWhole,
}
