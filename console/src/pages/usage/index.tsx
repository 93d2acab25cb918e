// Usage.

import { Trans } from '@lingui/react/macro'
import type { Catalog } from '../../i18n.ts'
import { Page } from '../../ui/page.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function UsagePage() {
  return <Page title={<Trans>Usage</Trans>}>{null}</Page>
}
