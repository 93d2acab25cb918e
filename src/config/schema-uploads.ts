// The section of the file on files that clients send.

import { bytes, key, section } from './schema-parts.ts'

export const uploads = section({
  maxImageBytes: key(
    bytes,
    'Largest image in a form, in bytes; a larger one gets 413. Also the largest that is fetched from an address that a client names; a larger one gets 400.',
    50 * 1024 * 1024,
  ),
  maxAudioBytes: key(
    bytes,
    'Largest audio or video file in a form, in bytes; a larger one gets 413.',
    25 * 1024 * 1024,
  ),
  maxFormBytes: key(
    bytes,
    'Largest form, files and texts together, in bytes; a larger one gets 413.',
    512 * 1024 * 1024,
  ),
  maxSpoolBytes: key(
    bytes,
    'Most bytes that running requests may have on disk in each serving process, for files of forms and for results that are converted; a request that needs more gets 503.',
    4 * 1024 * 1024 * 1024,
  ),
})
