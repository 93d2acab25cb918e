// Whether a key would be accepted now, and for which models: without calling one.

import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { change } from '../../api/client.ts'
import { Widget } from '../../ui/state.tsx'
import { Status } from '../../ui/values.tsx'

/** A reason of a newer gateway is shown in its own words. */
const reasonTexts: Readonly<Record<string, MessageDescriptor>> = {
  disabled: msg`The key is disabled.`,
  expired: msg`The key has expired.`,
  account_closed: msg`The account is suspended or deleted.`,
  address_not_allowed: msg`The key may not be used from that address.`,
  spend_limit_reached: msg`The spend limit of the key is used up.`,
  no_balance: msg`The account has no balance left.`,
  no_models: msg`No model of its group is left to it, or none is served and priced now.`,
}

export function KeyTest({ id }: { readonly id: string }) {
  const { t } = useLingui()
  const query = useQuery({
    queryKey: ['/api/keys/{id}/test', id],
    queryFn: () => change('post', '/api/keys/{id}/test', { params: { path: { id } }, body: {} }),
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <section aria-live="polite" className="rounded-card border border-border bg-sunken p-3">
      <Widget query={query}>
        {({ admitted, reasons, models }) => (
          <div className="flex flex-col gap-2">
            {admitted ? (
              <Status tone="ok">
                <Plural
                  value={models.length}
                  one="It would be accepted now, for # model."
                  other="It would be accepted now, for # models."
                />
              </Status>
            ) : (
              <Status tone="failed">
                <Trans>It would be refused now.</Trans>
              </Status>
            )}
            {reasons.length > 0 && (
              <ul className="list-disc pl-5">
                {reasons.map(({ code, message }) => (
                  <li key={code}>
                    {reasonTexts[code] === undefined ? message : t(reasonTexts[code])}{' '}
                    <code className="font-mono text-code text-text-3">{code}</code>
                  </li>
                ))}
              </ul>
            )}
            {models.length > 0 && (
              <p className="max-h-24 overflow-y-auto text-cell text-text-2">{models.join(', ')}</p>
            )}
            <p className="text-label font-normal text-text-3">
              <Trans>No model was called. Limits per minute are not checked.</Trans>
            </p>
          </div>
        )}
      </Widget>
    </section>
  )
}
