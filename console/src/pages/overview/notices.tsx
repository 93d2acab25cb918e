// Current notices of the operators to everybody.

import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/client.ts'
import { Status } from '../../ui/values.tsx'

const looks = {
  info: { tone: 'off', look: 'bg-info-tint' },
  warning: { tone: 'warning', look: 'bg-warning-tint' },
  critical: { tone: 'failed', look: 'bg-danger-tint' },
} as const

export function Notices() {
  const { t, i18n } = useLingui()
  const { data } = useQuery({ ...read('/api/notices'), refetchInterval: 60_000 })
  if (data === undefined || data.items.length === 0) return null
  const words = { info: t`Notice`, warning: t`Warning`, critical: t`Critical` }
  return (
    <ul aria-label={t`Notices`} className="flex flex-col gap-2">
      {data.items.map(({ severity, text, from }, index) => (
        <li
          key={`${from}${index}`}
          className={`flex flex-wrap items-baseline gap-x-3 rounded-card px-4 py-2.5 ${looks[severity].look}`}
        >
          <span className="text-label">
            <Status tone={looks[severity].tone}>{words[severity]}</Status>
          </span>
          <span className="min-w-0 flex-1">
            {text[i18n.locale] ?? text['en'] ?? Object.values(text)[0]}
          </span>
        </li>
      ))}
    </ul>
  )
}
