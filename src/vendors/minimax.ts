// MiniMax: errors in a member of its own, also with status 200.

import type { Fault } from '../errors.ts'
import { amendments, developerAsSystem } from './amendments.ts'
import { chatOnly, openaiCompatible } from './compatible.ts'
import type { Vendor } from './vendor.ts'
import { type VendorVideos, videoStarts } from './video.ts'

const minimaxVideos: VendorVideos = {
  variants: ['video'],
  load: async () => (await import('./minimax-videos.ts')).minimaxVideos,
}

/** Faults by MiniMax's status codes, from its error code page. */
const kinds: ReadonlyMap<string, Fault['kind']> = new Map(
  Object.entries({
    '1000': 'vendor_error',
    '1001': 'timeout',
    '1002': 'rate_limited',
    '1004': 'credentials',
    '1008': 'quota',
    '1013': 'vendor_error',
    '1024': 'vendor_error',
    '1026': 'rejected',
    '1027': 'rejected',
    '1033': 'vendor_error',
    '1039': 'rejected',
    '2013': 'rejected',
    '2049': 'credentials',
  }),
)

function refine(fault: Fault, _status: number, body: string): Fault {
  const code = /"status_code":\s*(\d{4})/.exec(body)?.[1] ?? /\((\d{4})\)"/.exec(body)?.[1] ?? ''
  const kind = kinds.get(code)
  if (kind === undefined) return fault
  if (kind === 'rejected' && /unknown model/i.test(body)) return { ...fault, kind: 'unknown_model' }
  const message = /"status_msg":\s*"([^"\\]*)"/.exec(body)?.[1] ?? fault.message
  return { ...fault, kind, code, message }
}

/** Keys of the mainland platform need https://api.minimaxi.com/v1. */
export const minimax = openaiCompatible({
  id: 'minimax',
  baseUrl: 'https://api.minimax.io/v1',
  environment: 'MINIMAX_API_KEY',
  speaks: [...chatOnly, 'openai-videos'],
  adapters: { 'openai-videos': videoStarts(minimaxVideos) },
  videos: minimaxVideos,
  quirks: {
    amend: amendments(developerAsSystem),
    refine,
  },
}) satisfies Vendor
