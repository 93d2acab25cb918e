// A link to the receipt of a paid order: a page that the browser prints, also as PDF.

import { Trans, useLingui } from '@lingui/react/macro'
import { apiAddress } from '../api/viewing.ts'

interface ReceiptLinkProps {
  /** The order's number. */
  readonly order: string
  readonly className?: string
}

export function ReceiptLink({ order, className }: ReceiptLinkProps) {
  const { i18n } = useLingui()
  const language = i18n.locale === 'zh-CN' ? 'zh-CN' : 'en'
  const query = new URLSearchParams({ format: 'html', language })
  return (
    <a
      href={apiAddress(`/api/orders/${encodeURIComponent(order)}/receipt?${query}`)}
      target="_blank"
      rel="noopener"
      className={className}
    >
      <Trans>Receipt</Trans>
    </a>
  )
}
