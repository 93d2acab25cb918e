// The built-in vendor: answers inside this process, deterministically, at a chosen pace or fault.

import { allDialects, beyondText, openaiCompatible } from '../compatible.ts'
import type { Vendor } from '../vendor.ts'
import { videoStarts } from '../video.ts'
import { sandboxAdapters } from './media/adapters.ts'
import { sandboxVideos } from './media/videos.ts'
import { sandboxService } from './service.ts'
import { sandboxBaseModel } from './settings.ts'

export const sandbox = openaiCompatible({
  id: 'sandbox',
  // Never dialled: `.invalid` never resolves (RFC 6761).
  baseUrl: 'http://sandbox.invalid/v1',
  keyless: true,
  speaks: [...allDialects, ...beyondText, 'openai-videos'],
  adapters: { ...sandboxAdapters, 'openai-videos': videoStarts(sandboxVideos) },
  videos: sandboxVideos,
  quirks: { withoutSettings: (name) => (name.includes('+') ? sandboxBaseModel(name) : null) },
  local: sandboxService,
}) satisfies Vendor
