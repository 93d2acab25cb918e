// The chat completion format's codec to and from the hub.

import type { ClientHub, VendorHub } from '../codec.ts'
import { withCacheMarks } from './cache-marks.ts'
import { ChatReader } from './hub-reader.ts'
import { decodeRequest, encodeRequest } from './hub-request.ts'
import { writeWhole } from './hub-whole.ts'
import { ChatWriter } from './hub-writer.ts'

export const chatHub: ClientHub & VendorHub = {
  decodeRequest,
  encodeRequest,
  oneText: true,
  withCacheMarks,
  // Files are given by their bytes in this format, images by their address too.
  needsBytes: ({ type }) => type === 'file',
  reader: (quirks) => new ChatReader(quirks),
  readWhole: (body, quirks) => new ChatReader(quirks).whole(body),
  writer: (head) => new ChatWriter(head),
  writeWhole,
}
