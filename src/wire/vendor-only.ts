// A dialect that vendors speak and no client here: what clients would need of it is never asked.

import type { Dialect } from './dialect.ts'
import { vendorsOnly } from './list/fields.ts'

type VendorSide = Pick<Dialect, 'id' | 'operation' | 'path' | 'fault' | 'hub'> &
  Partial<Pick<Dialect, 'frames' | 'list'>>

export function vendorOnly(side: VendorSide): Dialect {
  return {
    idPrefix: '',
    terminator: '',
    heartbeat: '',
    peek: vendorsOnly,
    watcher: vendorsOnly,
    whole: vendorsOnly,
    tail: vendorsOnly,
    withCost: vendorsOnly,
    refuse: vendorsOnly,
    errorFrames: vendorsOnly,
    ...side,
  }
}
