// Get started.

import { Trans } from '@lingui/react/macro'
import type { Catalog } from '../../i18n.ts'
import { Page } from '../../ui/page.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

export default function GetStartedPage() {
  return <Page title={<Trans>Get started</Trans>}>{null}</Page>
}
