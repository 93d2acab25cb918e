// Makes a link to one request for somebody else, and copies it.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import { change } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { dateTime } from '../../format.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { showProblem, showToast } from '../../ui/toast.tsx'
import { copyText } from '../../ui/values.tsx'

export function ShareButton({ id }: { readonly id: string }) {
  const { t, i18n } = useLingui()
  const zone = useTimeZone()
  const { mayChange } = roleOf(useMe())
  const share = useMutation({
    async mutationFn() {
      const params = { path: { id } }
      const made = await change('post', '/api/requests/{id}/share', { params, body: {} })
      const query = new URLSearchParams({ request: made.token })
      const link = `${location.origin}/console/shared?${query}`
      return { ...made, link, isCopied: await copyText(link) }
    },
    onSuccess({ expiresAt, link, isCopied }) {
      if (!isCopied) return showToast({ text: t`Copy the link yourself: ${link}`, tone: 'info' })
      const until = dateTime(expiresAt, i18n.locale, zone)
      showToast({
        text: t`A link was copied. Until ${until} it shows how the request went, without its messages, its cost and its account.`,
        tone: 'info',
      })
    },
    onError: showProblem,
  })
  if (!mayChange) return null
  return (
    <Button icon="external" busy={share.isPending} onClick={() => share.mutate()}>
      <Trans>Share how it went</Trans>
    </Button>
  )
}
