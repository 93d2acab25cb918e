// The Responses format's side of the hub.

import type { ClientHub, VendorHub } from '../codec.ts'
import { decodeRequest } from './hub-decode.ts'
import { encodeRequest } from './hub-encode.ts'
import { ResponsesReader } from './hub-reader.ts'
import { ResponsesWriter, writeWhole } from './hub-writer.ts'

/** What chat completions of some vendors have wrong is right in their Responses: no quirk applies. */
export const responsesHub: ClientHub & VendorHub = {
  decodeRequest,
  encodeRequest,
  hasToo: ({ extra }) => extra['openai-chat']?.['web_search_options'] !== undefined,
  reader: () => new ResponsesReader(),
  readWhole: (body) => new ResponsesReader().whole(body),
  writer: (head) => new ResponsesWriter(head),
  writeWhole,
}
