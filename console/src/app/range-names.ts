// What people call the ranges that can be chosen.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Preset } from './range.ts'

export const presetNames: Readonly<Record<Preset, MessageDescriptor>> = {
  '1h': msg`Last hour`,
  today: msg`Today`,
  '24h': msg`Last 24 hours`,
  '7d': msg`Last 7 days`,
  '30d': msg`Last 30 days`,
  mtd: msg`This month`,
  'last-month': msg`Last month`,
}
