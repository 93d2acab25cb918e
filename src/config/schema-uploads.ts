// The section of the file on files that clients send.

import { key, section, wholeNumber } from './schema-parts.ts'

const bytes = wholeNumber(1_024, 1_099_511_627_776)

export const uploads = section({
  maxImageBytes: key(bytes, 'Largest image of a form; past it 413.', 50 * 1024 * 1024),
  maxAudioBytes: key(
    bytes,
    'Largest sound of a form, or film whose sound is asked for; past it 413.',
    25 * 1024 * 1024,
  ),
  maxFormBytes: key(
    bytes,
    'Largest form, files and texts together; past it 413.',
    512 * 1024 * 1024,
  ),
  maxSpoolBytes: key(
    bytes,
    'What requests under way have on disk, for each serving process: files of forms, and results that are put in another form; past it 503.',
    4 * 1024 * 1024 * 1024,
  ),
})
