// The component behind the macros Trans, Plural and Select: shows a name within a text as it is, also if it looks like a
// tag. Lingui's own takes such a name for an element of the text and leaves it out.

import { Trans as LinguiTrans, type TransProps } from '@lingui/react'
import type { ReactNode } from 'react'

export function Trans({ values, ...props }: TransProps): ReactNode {
  if (values === undefined) return <LinguiTrans {...props} />
  const asWritten = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' && value.includes('<') ? <>{value}</> : value,
  ])
  return <LinguiTrans {...props} values={Object.fromEntries(asWritten)} />
}
