// The settings of a stored channel, which can be changed.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { change } from '../../api/client.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { showToast } from '../../ui/toast.tsx'
import { type Channel, refreshChannels } from './channels.ts'
import { ChannelFields } from './form.tsx'
import { ChannelTest } from './test.tsx'
import { useChannelForm } from './use-channel-form.ts'
import { bodyOf, changesOf, newValues, valuesOf } from './values.ts'

export default function ChannelSettings({ channel }: { readonly channel: Channel }) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { form, problem, newest, submit } = useChannelForm(channel, async (values, base) => {
    const before = base === null ? newValues : valuesOf(base)
    try {
      const changed = await change('patch', '/api/channels/{id}', {
        params: { path: { id: channel.id } },
        body: changesOf(values, before),
        ifMatch: base?.revision ?? 0,
      })
      client.setQueryData(['/api/channels/{id}', { params: { path: { id: channel.id } } }], changed)
      form.reset(values)
      showToast({ text: t`Channel changed`, tone: 'info' })
    } finally {
      // Also if somebody else saved first: the present values are shown then.
      void refreshChannels(client)
    }
  })
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
        <FormProblem
          problem={problem}
          newest={newest}
          actor={channel.actor}
          changedAt={channel.changedAt}
        />
        <Buttons>
          <Button
            type="submit"
            variant="primary"
            busy={isSubmitting}
            disabled={!isDirty || newest.isStale}
          >
            <Trans>Save changes</Trans>
          </Button>
          {isDirty && (
            <Button onClick={newest.discard}>
              <Trans>Discard</Trans>
            </Button>
          )}
        </Buttons>
      </footer>
    </form>
  )
}
