// Names the fields that a change can have, in the audit log.

import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useLineName } from '../../ui/model-prices.tsx'

const words = {
  addresses: msg`Allowed addresses`,
  availableNano: msg`Available`,
  baseUrl: msg`Address`,
  concurrency: msg`Most requests at once`,
  deniedModels: msg`Refused models`,
  expiresAt: msg`Expires`,
  group: msg`Group`,
  groups: msg`Groups`,
  heldNano: msg`Held`,
  historyMode: msg`Message history`,
  key: msg`Key`,
  keys: msg`Keys`,
  kind: msg`Kind`,
  limits: msg`Limits`,
  models: msg`Models`,
  modelMultipliers: msg`Multipliers of models`,
  multiplier: msg`Multiplier`,
  name: msg`Name`,
  note: msg`Note`,
  postedNano: msg`In all`,
  priority: msg`Priority`,
  proxy: msg`Proxy`,
  refundable: msg`Refundable`,
  refunds: msg`Refunds`,
  role: msg`Role`,
  spendLimit: msg`Spend limit`,
  state: msg`State`,
  status: msg`Status`,
  suspendedAt: msg`Suspended`,
  tags: msg`Tags`,
  timeline: msg`Timeline`,
  vendor: msg`Vendor`,
  weight: msg`Weight`,
}

/** A price's name too is in words; other fields are shown as the API names them. */
export function useFieldName(): (name: string) => string {
  const { t } = useLingui()
  const lineName = useLineName()
  return (name) =>
    Object.hasOwn(words, name) ? t(words[name as keyof typeof words]) : lineName(name)
}
