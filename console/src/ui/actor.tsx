// Who changed something, in the reader's language: the API names accounts, keys and parts of the gateway in English.

import { useLingui } from '@lingui/react/macro'
import { useProviderName } from './provider-name.tsx'

/** Names given on the command line are shown unchanged. */
export function Actor({ actor }: { readonly actor: string | null }) {
  const { t } = useLingui()
  const providerName = useProviderName()
  if (actor === null) return null
  const [, kind, id = ''] = /^(account|management key) (.+)$/.exec(actor) ?? []
  if (kind === 'account') return t`account ${id}`
  if (kind === 'management key') return t`management key ${id}`
  switch (actor) {
    case 'first start':
      return t`first start`
    case 'configuration':
      return t`configuration file`
    case 'automatic top-up':
      return t`automatic top-up`
    case 'command line':
      return t`command line`
    default:
      // A payment's entry is by its provider.
      return providerName(actor)
  }
}
