// Anthropic's codec to and from the hub: requests, replies and streams of its Messages API.

import type { ClientHub, VendorHub } from '../codec.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { MessagesReader } from './reader.ts'
import { writeWhole } from './whole.ts'
import { MessagesWriter } from './writer.ts'

const fieldNames = new Map([
  ['stop', ['stop_sequences']],
  ['user', ['metadata.user_id']],
  ['response_format', ['output_config.format']],
  ['reasoning_effort', ['thinking', 'output_config.effort']],
  ['parallel_tool_calls', ['tool_choice.disable_parallel_tool_use']],
])

export const messagesHub: ClientHub & VendorHub = {
  decodeRequest,
  fieldNames,
  encodeRequest,
  reader: (quirks, context) => new MessagesReader(quirks, context),
  readWhole: (body, quirks, context) => new MessagesReader(quirks, context).whole(body),
  writer: (head) => new MessagesWriter(head),
  writeWhole,
}
