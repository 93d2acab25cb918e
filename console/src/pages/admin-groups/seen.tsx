// What a user of a group sees: its models with their prices; and for any other model, why it is missing.

import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { change, read, type Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { previewReasonText } from '../../ui/channel-reason.ts'
import { Field, Input } from '../../ui/field.tsx'
import { FirstPrice, Price } from '../../ui/model-prices.tsx'
import { ProblemText, Skeleton, Widget } from '../../ui/state.tsx'
import { Status } from '../../ui/values.tsx'

export function Seen({ group }: { readonly group: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details
      className="rounded-card border border-border"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="min-h-9 px-3 py-2">
        <Trans>What does a user of this group see?</Trans>
      </summary>
      <div className="flex flex-col gap-4 border-t border-border p-3">
        {isOpen && (
          <>
            <Models group={group} />
            <WhyMissing group={group} />
          </>
        )}
      </div>
    </details>
  )
}

function Models({ group }: { readonly group: string }) {
  const models = useQuery(read('/api/models', { params: { query: { group, limit: 200 } } }))
  return (
    <Widget query={models} skeleton={<Skeleton rows={4} />}>
      {({ items, next }) =>
        items.length === 0 ? (
          <p>
            <Trans>No model: none is served to this group with a price.</Trans>
          </p>
        ) : (
          // A scrolling element must be reachable by the keyboard.
          <section tabIndex={0} className="max-h-80 overflow-auto" aria-label={group}>
            <table className="w-full text-left text-cell">
              <thead className="sticky top-0 bg-surface text-label text-text-2">
                <tr>
                  <th scope="col" className="py-1 pr-4">
                    <Trans>Model</Trans>
                  </th>
                  <th scope="col" className="py-1 pr-4 text-right">
                    <Trans>Input</Trans>
                  </th>
                  <th scope="col" className="py-1 text-right">
                    <Trans>Output</Trans>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((model) => (
                  <tr key={model.id} className="border-t border-border">
                    <th scope="row" className="py-1 pr-4 font-normal">
                      {model.id}
                    </th>
                    <td className="py-1 pr-4 text-right">
                      <FirstPrice model={model} />
                    </td>
                    <td className="py-1 text-right">
                      <Price model={model} kind="output" />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <p className="pt-2 text-label font-normal text-text-2">
              <Trans>For a million tokens or as it says, with the multiplier.</Trans>{' '}
              {next !== null && <Trans>The first 200 are shown.</Trans>}
            </p>
          </section>
        )
      }
    </Widget>
  )
}

function WhyMissing({ group }: { readonly group: string }) {
  const { t } = useLingui()
  const [model, setModel] = useState('')
  const preview = useMutation({
    mutationFn: (body: { readonly model: string; readonly group: string }) =>
      change('post', '/api/routing/preview', { body }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    if (model.trim() !== '') preview.mutate({ model: model.trim(), group })
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field
            label={t`Where would a request for this model go?`}
            error={preview.error === null ? undefined : <ProblemText error={preview.error} />}
          >
            <Input
              autoComplete="off"
              spellCheck={false}
              placeholder="gpt-4o-mini"
              value={model}
              onChange={(event) => setModel(event.target.value)}
            />
          </Field>
        </div>
        <Button type="submit" busy={preview.isPending}>
          <Trans>Look</Trans>
        </Button>
      </div>
      {preview.data !== undefined && <Preview preview={preview.data} />}
    </form>
  )
}

function Preview({ preview }: { readonly preview: Shape<'RoutingPreview'> }) {
  const { t } = useLingui()
  const { channels, leftOut, model } = preview
  return (
    <ul className="flex flex-col gap-1" aria-live="polite">
      {channels.map(({ channel, key }, place) => (
        <li key={`${channel} ${key}`}>
          <Status tone="ok">
            <span>
              {place + 1}. {channel}
              {key !== null && ` · ${key}`}
            </span>
          </Status>
        </li>
      ))}
      {channels.length === 0 && (
        <li>
          <Status tone="failed">
            <Trans>No channel serves {model} to this group.</Trans>
          </Status>
        </li>
      )}
      {leftOut.map(({ channel, key, reason }) => (
        <li key={`${channel} ${key}`} className="text-text-2">
          {channel}
          {key !== null && ` · ${key}`}: {previewReasonText(reason, t)}
        </li>
      ))}
    </ul>
  )
}
