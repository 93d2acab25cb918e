// Queries a channel's vendor for the remaining balance.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { change } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { showProblem } from '../../ui/toast.tsx'
import { type Channel, refreshChannels } from './channels.ts'

export function AskBalance({ channel: { id } }: { readonly channel: Channel }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { admin } = roleOf(useMe())
  const asking = useMutation({
    mutationFn: () => change('post', '/api/channels/{id}/balance', { params: { path: { id } } }),
    onSuccess: () => refreshChannels(client),
    onError: showProblem,
  })
  if (!admin) return null
  return (
    <Button
      icon="refresh"
      busy={asking.isPending}
      title={t`Asked at most once a minute, with the first key in use`}
      onClick={() => asking.mutate()}
    >
      <Trans>Ask the vendor</Trans>
    </Button>
  )
}
