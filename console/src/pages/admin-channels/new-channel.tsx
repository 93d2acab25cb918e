// A new channel: its settings, which can be tested before it is made.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Failure } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { refreshChannels } from './channels.ts'
import { ChannelFields } from './form.tsx'
import { ChannelTest } from './test.tsx'
import { useChannelForm } from './use-channel-form.ts'
import { bodyOf } from './values.ts'

export default function NewChannel() {
  const { t } = useLingui()
  const navigate = useNavigate()
  const client = useQueryClient()
  const [made, setMade] = useState<string | null>(null)
  const show = (open: string | undefined) =>
    void navigate({
      to: '.',
      search: (now) => ({ ...now, open, tab: undefined, dialog: undefined }),
    })
  const { form, problem, submit } = useChannelForm(null, async (values, _, idempotencyKey) => {
    const body = bodyOf(values) as Shape<'ChannelInput'>
    const channel = await change('post', '/api/channels', { body, idempotencyKey })
    showToast({ text: t`Channel ${channel.id} made: it serves within a second`, tone: 'info' })
    void refreshChannels(client)
    setMade(channel.id)
  })
  // Once there is no draft left to keep, the new channel is shown.
  useEffect(() => {
    if (made !== null) show(made)
  })
  return (
    <Drawer
      label={t`New channel`}
      onClose={() => show(undefined)}
      header={
        <h2 className="text-section">
          <Trans>New channel</Trans>
        </h2>
      }
    >
      <form
        noValidate
        aria-label={t`New channel`}
        className="flex flex-col gap-6"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <KeepDraft isDirty={form.formState.isDirty && made === null} />
        <ChannelFields form={form} channel={null} />
        <ChannelTest id={null} models={null} draft={() => bodyOf(form.getValues())} />
        <footer className="sticky -bottom-4 -mx-4 -mb-4 flex flex-col gap-3 border-t border-border bg-surface px-4 py-3">
          {problem !== null && <Failure error={problem} />}
          <Buttons>
            <Button type="submit" variant="primary" busy={form.formState.isSubmitting}>
              <Trans>Make the channel</Trans>
            </Button>
            <Button onClick={() => show(undefined)}>
              <Trans>Cancel</Trans>
            </Button>
          </Buttons>
        </footer>
      </form>
    </Drawer>
  )
}
