// Anthropic's codec to and from the hub: requests, replies and streams of its Messages API.

import type { ClientHub, VendorHub } from '../codec.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { MessagesReader } from './reader.ts'
import { writeWhole } from './whole.ts'
import { MessagesWriter } from './writer.ts'

export const messagesHub: ClientHub & VendorHub = {
  decodeRequest,
  encodeRequest,
  reader: (quirks, context) => new MessagesReader(quirks, context),
  readWhole: (body, quirks, context) => new MessagesReader(quirks, context).whole(body),
  writer: (head) => new MessagesWriter(head),
  writeWhole,
}
