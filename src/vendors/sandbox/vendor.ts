// The built-in vendor: answers inside this process, deterministically, at a chosen pace or fault.

import { allDialects, beyondText, openaiCompatible } from '../compatible.ts'
import type { Vendor } from '../vendor.ts'
import { sandboxAdapters } from './media/adapters.ts'
import { sandboxService } from './service.ts'

export const sandbox = openaiCompatible({
  id: 'sandbox',
  // Never dialled: `.invalid` never resolves (RFC 6761).
  baseUrl: 'http://sandbox.invalid/v1',
  keyless: true,
  speaks: [...allDialects, ...beyondText],
  adapters: sandboxAdapters,
  local: sandboxService,
}) satisfies Vendor
