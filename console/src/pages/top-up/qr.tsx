// A QR code, drawn in the browser; loaded with the first order that has one.

import { useLingui } from '@lingui/react/macro'
import encode from 'qr'
import { useMemo } from 'react'

const border = 4

/** Dark on white in every theme, which is what cameras read best. */
export default function QrCode({ text }: { readonly text: string }) {
  const { t } = useLingui()
  const { path, size } = useMemo(
    () => pathOf(encode(text, 'raw', { ecc: 'medium', border })),
    [text],
  )
  return (
    <svg
      role="img"
      aria-label={t`QR code to pay by`}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-full rounded-card bg-paper"
    >
      <path d={path} fill="black" />
    </svg>
  )
}

function pathOf(rows: readonly (readonly boolean[])[]): { path: string; size: number } {
  const squares = rows.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])),
  )
  return { path: squares.join(''), size: rows.length }
}
