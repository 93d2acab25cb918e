// Queries the provider about one order of a list, and shows the result there.

import { Trans } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { change, type Shape } from '../../api/client.ts'
import { refreshMoney } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemText } from '../../ui/state.tsx'

export function CheckNow({ order: { id } }: { readonly order: Shape<'Order'> }) {
  const asked = useMutation({
    mutationFn: () => change('post', '/api/orders/{id}/check', { params: { path: { id } } }),
    onSettled: () => refreshMoney(),
  })
  return (
    <span className="flex items-center gap-2">
      <Button icon="refresh" busy={asked.isPending} onClick={() => asked.mutate()}>
        <Trans>Check now</Trans>
      </Button>
      <span role="status" className="text-text-2">
        {asked.isSuccess &&
          (asked.data.creditedAt === null ? (
            <Trans>no payment so far</Trans>
          ) : (
            <Trans>paid, and credited</Trans>
          ))}
        {asked.error !== null && <ProblemText error={asked.error} />}
      </span>
    </span>
  )
}
