// Requests with images, files and sound, and with marks for a vendor's prompt cache.

import type { RequestPart } from '../../../src/wire/ir.ts'
import type { Asked } from './asked.ts'

function shows(...parts: RequestPart[]): Asked {
  return { messages: [{ role: 'user', parts: [{ type: 'text', text: 'What is it?' }, ...parts] }] }
}

export const mediaRequests: Readonly<Record<string, Asked>> = {
  'image-url': shows({ type: 'image', url: 'https://example.com/cat.png' }),
  'image-data': shows({ type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' }),
  'image-mislabelled': shows({ type: 'image', url: 'data:image/png;base64,/9j/4AAQ' }),
  'image-detail': shows({ type: 'image', url: 'https://example.com/cat.png', detail: 'low' }),
  'image-of-vendor': shows({ type: 'image', url: '', vendorFile: 'file-1' }),
  'file-data': shows({
    type: 'file',
    url: 'data:application/pdf;base64,JVBERi0=',
    name: 'a b.pdf',
  }),
  'file-text': shows({ type: 'file', url: 'data:text/plain;base64,SGk=' }),
  'file-url': shows({ type: 'file', url: 'https://example.com/a.pdf' }),
  'file-of-vendor': shows({ type: 'file', url: '', vendorFile: 'file-1' }),
  audio: shows({ type: 'audio', format: 'wav', data: 'UklGRg==' }),
  'part-of-another': shows({ type: 'other', extra: { 'some-dialect': { type: 'hologram' } } }),
  'cache-marks': {
    messages: [
      { role: 'system', parts: [{ type: 'text', text: 'Be brief.', cache: { ttl: '1h' } }] },
      { role: 'user', parts: [{ type: 'text', text: 'A long text.', cache: { ttl: '5m' } }] },
    ],
    tools: [{ type: 'function', name: 'clock', cache: { ttl: '1h' } }],
  },
  'cache-answer': {
    tools: [{ type: 'function', name: 'clock' }],
    messages: [
      { role: 'user', parts: [{ type: 'text', text: 'Time?' }] },
      {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: 'call_1', name: 'clock', arguments: '{}' }],
      },
      {
        role: 'tool',
        callId: 'call_1',
        parts: [{ type: 'text', text: 'Noon.', cache: { ttl: '5m' } }],
      },
    ],
  },
  'cache-whole': { cache: { ttl: '5m' } },
}
