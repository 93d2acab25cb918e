// Names of the states of channels and keys, and of their reasons.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Tone } from '../../ui/values.tsx'
import type { Channel } from './channels.ts'

interface Word {
  readonly tone: Tone
  readonly word: MessageDescriptor
}

export const stateWords: Readonly<Record<Channel['state'], Word>> = {
  ok: { tone: 'ok', word: msg`Healthy` },
  degraded: { tone: 'warning', word: msg`Degraded` },
  open: { tone: 'failed', word: msg`Not asked at the moment` },
  draining: { tone: 'pending', word: msg`Draining` },
  disabled: { tone: 'off', word: msg`Disabled` },
}

export const keyStateWords: Readonly<Record<Channel['keys'][number]['state'], Word>> = {
  'in use': { tone: 'ok', word: msg`In use` },
  cooling: { tone: 'warning', word: msg`Cooling` },
  refused: { tone: 'failed', word: msg`Refused by the vendor` },
  disabled: { tone: 'off', word: msg`Disabled` },
}

export const originWords: Readonly<Record<Channel['origin'], MessageDescriptor>> = {
  stored: msg`Made here`,
  file: msg`Configuration file`,
  environment: msg`Environment variable`,
  'built-in': msg`Built in`,
}
