// Imports channels from a JSON file, with a preview of the changes first.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ChangeEvent, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Difference } from '../../ui/difference.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Failure } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { Badge } from '../../ui/values.tsx'
import { refreshChannels } from './channels.ts'
import { channelsIn } from './transfer.ts'

type Import = Shape<'ChannelImport'>

/** Reads the typed text, and previews or executes the import. */
function useImport(onDone: () => void) {
  const { t } = useLingui()
  const client = useQueryClient()
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState<string | null>(null)
  const send = useMutation({
    mutationFn: ({ channels, apply }: { channels: readonly unknown[]; apply: boolean }) =>
      change('post', '/api/channels/import', { body: { channels, apply } as never }),
    async onSuccess({ applied, channels }) {
      if (!applied) return
      showToast({
        text: (
          <Plural value={channels.length} one="# channel imported" other="# channels imported" />
        ),
        tone: 'info',
      })
      await refreshChannels(client)
      onDone()
    },
  })
  function type(next: string) {
    setText(next)
    setWrong(null)
    send.reset()
  }
  function work(apply: boolean) {
    try {
      const channels = channelsIn(text)
      if (channels === null) setWrong(t`Expected {"channels": […]}, or a list of channels.`)
      else send.mutate({ channels, apply })
    } catch (error) {
      setWrong(t`This is not JSON: ${(error as Error).message}`)
    }
  }
  return { text, wrong, send, type, work }
}

export default function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLingui()
  const { text, wrong, send, type, work } = useImport(onClose)
  const foreseen = send.data
  const isGood =
    foreseen !== undefined && foreseen.channels.every(({ problem }) => problem === null)
  return (
    <Dialog
      wide
      keep={text !== ''}
      busy={send.isPending}
      title={<Trans>Import channels</Trans>}
      onClose={onClose}
      footer={
        <>
          <Button disabled={send.isPending} onClick={onClose}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            busy={send.isPending}
            disabled={text.trim() === ''}
            variant={isGood ? 'secondary' : 'primary'}
            onClick={() => work(false)}
          >
            <Trans>See what it would do</Trans>
          </Button>
          {isGood && (
            <Button variant="primary" busy={send.isPending} onClick={() => work(true)}>
              <Trans>Import all of it</Trans>
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-text-2">
          <Trans>
            Channels that are there become what the file says, others are made; none is removed. ***
            keeps the secret that is stored.
          </Trans>
        </p>
        <FileField onText={type} />
        <Field label={t`Channels (JSON)`} error={wrong}>
          <TextArea
            rows={10}
            spellCheck={false}
            className="font-mono"
            value={text}
            placeholder={'{ "channels": [ { "id": "main", "vendor": "openai" } ] }'}
            onChange={(event) => type(event.target.value)}
          />
        </Field>
        {send.error !== null && <Failure error={send.error} />}
        {foreseen !== undefined && <Foreseen result={foreseen} />}
      </div>
    </Dialog>
  )
}

function FileField({ onText }: { readonly onText: (text: string) => void }) {
  const { t } = useLingui()
  async function read(event: ChangeEvent<HTMLInputElement>) {
    const { target } = event
    const text = await target.files?.[0]?.text()
    // The same file may be chosen again after a change.
    target.value = ''
    if (text !== undefined) onText(text)
  }
  return (
    <Field label={t`From a file`}>
      <input
        type="file"
        accept="application/json,.json"
        aria-label={t`From a file`}
        className="text-body"
        onChange={(event) => void read(event)}
      />
    </Field>
  )
}

/** The effect of the import, channel by channel. */
function Foreseen({ result }: { readonly result: Import }) {
  const { t } = useLingui()
  const words = { create: t`New`, update: t`Changed`, refuse: t`Refused` }
  const tones = { create: 'success', update: 'info', refuse: 'danger' } as const
  return (
    <ul aria-label={t`What it would do`} className="flex flex-col gap-3">
      {result.channels.map(({ id, action, problem, before, after }, index) => (
        <li key={index} className="rounded-card border border-border p-3">
          <p className="flex items-center gap-2">
            <span className="font-medium">{id}</span>
            <Badge tone={tones[action]}>{words[action]}</Badge>
          </p>
          {problem !== null && <p className="mt-1 text-danger">{problem}</p>}
          {problem === null && (
            <div className="mt-2">
              <Difference before={before} after={after} />
            </div>
          )}
        </li>
      ))}
      {result.channels.length === 0 && (
        <li className="text-text-2">
          <Trans>There is no channel in it.</Trans>
        </li>
      )}
    </ul>
  )
}
