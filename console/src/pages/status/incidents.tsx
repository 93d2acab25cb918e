// The operator's incidents: current, announced, past.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { Card } from '../../ui/page.tsx'
import { Status, Time } from '../../ui/values.tsx'

type Incident = Shape<'Incident'>

export function Incidents({ incidents }: { readonly incidents: readonly Incident[] }) {
  const { t, i18n } = useLingui()
  const states = { ongoing: t`Under way`, scheduled: t`Announced`, over: t`Over` }
  return (
    <Card title={<Trans>Incidents</Trans>}>
      {incidents.length === 0 ? (
        <p className="text-text-2">
          <Trans>None.</Trans>
        </p>
      ) : (
        <ul className="flex flex-col gap-3">
          {incidents.map((each, place) => (
            <li key={`${each.from}${place}`} className="flex flex-col gap-0.5">
              <p className="flex flex-wrap items-baseline gap-x-3">
                <Status tone={toneOf(each)}>{states[each.state]}</Status>
                <span className="tabular text-label text-text-2">
                  <Span {...each} />
                </span>
              </p>
              <p>{each.text[i18n.locale] ?? each.text['en'] ?? Object.values(each.text)[0]}</p>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function toneOf({ state, severity }: Incident) {
  if (state !== 'ongoing') return 'off'
  return severity === 'critical' ? 'failed' : 'warning'
}

function Span({ from, until }: Incident) {
  if (from !== null && until !== null)
    return (
      <Trans>
        from <Time at={from} /> to <Time at={until} />
      </Trans>
    )
  if (from !== null)
    return (
      <Trans>
        since <Time at={from} />
      </Trans>
    )
  if (until !== null)
    return (
      <Trans>
        until <Time at={until} />
      </Trans>
    )
  return null
}
