// The Responses format's codec to and from the hub.

import type { ClientHub, VendorHub } from '../codec.ts'
import { decodeRequest } from './hub-decode.ts'
import { encodeRequest } from './hub-encode.ts'
import { ResponsesReader } from './hub-reader.ts'
import { ResponsesWriter, writeWhole } from './hub-writer.ts'

const fieldNames = new Map([
  ['messages', ['input']],
  ['max_tokens', ['max_output_tokens']],
  ['response_format', ['text.format']],
  ['verbosity', ['text.verbosity']],
  ['reasoning_effort', ['reasoning.effort']],
])

/** Quirks describe vendors' chat completions; their Responses replies do not need them. */
export const responsesHub: ClientHub & VendorHub = {
  decodeRequest,
  fieldNames,
  encodeRequest,
  hasToo: ({ extra }) => extra['openai-chat']?.['web_search_options'] !== undefined,
  reader: () => new ResponsesReader(),
  readWhole: (body) => new ResponsesReader().whole(body),
  writer: (head) => new ResponsesWriter(head),
  writeWhole,
}
