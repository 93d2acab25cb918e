// The settings of a stored channel, which can be changed.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { change } from '../../api/client.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Failure } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { Time } from '../../ui/values.tsx'
import { type Channel, refreshChannels } from './channels.ts'
import { ChannelFields } from './form.tsx'
import { KeepDraft } from './keep-draft.tsx'
import { Note } from './parts.tsx'
import { ChannelTest } from './test.tsx'
import { useChannelForm } from './use-channel-form.ts'
import { bodyOf, changesOf, newValues, valuesOf } from './values.ts'

export default function ChannelSettings({ channel }: { readonly channel: Channel }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { form, problem, isStale, takeOver, submit } = useChannelForm(
    channel,
    async (values, base) => {
      const before = base === null ? newValues : valuesOf(base)
      try {
        const changed = await change('patch', '/api/channels/{id}', {
          params: { path: { id: channel.id } },
          body: changesOf(values, before),
          ifMatch: base?.revision ?? 0,
        })
        client.setQueryData(
          ['/api/channels/{id}', { params: { path: { id: channel.id } } }],
          changed,
        )
        form.reset(values)
        showToast({ text: t`Channel changed`, tone: 'info' })
      } finally {
        // Also if somebody else saved first: the present values are shown then.
        void refreshChannels(client)
      }
    },
  )
  const { isDirty, isSubmitting } = form.formState
  return (
    <form
      noValidate
      aria-label={t`Settings of the channel`}
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <KeepDraft isDirty={isDirty} />
      <ChannelFields form={form} channel={channel} />
      {isDirty && (
        <ChannelTest
          id={channel.id}
          models={channel.models}
          draft={() => bodyOf(form.getValues())}
        />
      )}
      <footer className="sticky -bottom-4 -mx-4 -mb-4 flex flex-col gap-3 border-t border-border bg-surface px-4 py-3">
        {isStale ? (
          <Changed channel={channel} onTakeOver={takeOver} />
        ) : (
          problem !== null && <Failure error={problem} />
        )}
        <Buttons>
          <Button
            type="submit"
            variant="primary"
            busy={isSubmitting}
            disabled={!isDirty || isStale}
          >
            <Trans>Save changes</Trans>
          </Button>
          {isDirty && (
            <Button onClick={() => form.reset()}>
              <Trans>Discard</Trans>
            </Button>
          )}
        </Buttons>
      </footer>
    </form>
  )
}

interface ChangedProps {
  readonly channel: Channel
  readonly onTakeOver: () => void
}

/** Somebody else saved first: who, and how to continue without losing the typed values. */
function Changed({ channel, onTakeOver }: ChangedProps) {
  return (
    <Note tone="warning">
      <div role="alert" className="flex flex-wrap items-center justify-between gap-3">
        <p>
          <Trans>
            {channel.actor} changed this channel <Time relative at={channel.changedAt} />. What you
            typed stays.
          </Trans>
        </p>
        <Button onClick={onTakeOver}>
          <Trans>Load the newest and keep my changes</Trans>
        </Button>
      </div>
    </Note>
  )
}
