// Writes an adapter's reply in OpenAI's form, as the client asked for it.

import type { MediaCall, MediaReply } from '../../vendors/media.ts'
import { writeSound } from '../audio/write-speech.ts'
import { writeTranscript } from '../audio/write-transcript.ts'
import { writeImages } from '../images/write.ts'
import type { WriteRooms, Written } from './written.ts'

/** Rejects with MediaFault where a result cannot be fetched. */
export function writeReply(
  reply: MediaReply,
  call: MediaCall,
  rooms: WriteRooms,
): Promise<Written> | Written {
  switch (reply.kind) {
    case 'images':
      return writeImages(reply, call, rooms)
    case 'transcript':
      return writeTranscript(reply, call)
    case 'sound':
      return writeSound(reply, call)
    case 'plain':
      return reply
  }
}
