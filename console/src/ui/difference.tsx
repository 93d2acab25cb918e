// The differences between two documents, by member.

import { Trans, useLingui } from '@lingui/react/macro'

type Document = Readonly<Record<string, unknown>>

interface Differing {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

/** Members that differ or that only one of them has; null: there are none. */
export function differences(before: Document | null, after: Document | null): Differing[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  return [...names].flatMap((name) => {
    const [was, is] = [before?.[name], after?.[name]]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ name, before: was, after: is }]
  })
}

interface DifferenceProps {
  readonly before: Document | null
  readonly after: Document | null
}

export function Difference({ before, after }: DifferenceProps) {
  const { t } = useLingui()
  const rows = differences(before, after)
  if (rows.length === 0)
    return (
      <p className="text-text-2">
        <Trans>Nothing differs.</Trans>
      </p>
    )
  return (
    // A scrolling region must be reachable by the keyboard.
    <div role="region" aria-label={t`What differs`} tabIndex={0} className="overflow-x-auto">
      <table className="w-full text-cell">
        <thead>
          <tr className="border-b border-border text-label text-text-2">
            <th scope="col" className="py-1 pr-3 text-left">
              <Trans>Member</Trans>
            </th>
            <th scope="col" className="px-3 text-left">
              <Trans>Before</Trans>
            </th>
            <th scope="col" className="pl-3 text-left">
              <Trans>After</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name} className="border-b border-border align-top last:border-b-0">
              <td className="py-1.5 pr-3">{row.name}</td>
              <td className="px-3 py-1.5">
                <Value value={row.before} />
              </td>
              <td className="py-1.5 pl-3">
                <Value value={row.after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Value({ value }: { readonly value: unknown }) {
  if (value === undefined)
    return (
      <span className="text-text-3">
        <Trans>not said</Trans>
      </span>
    )
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1)
  return <code className="font-mono text-code break-words whitespace-pre-wrap">{text}</code>
}
