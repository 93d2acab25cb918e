// Where a request would go: the channels in the order in which they would be tried, and why the others would not be.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import { change, readAll, type Shape } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { previewReasonText } from '../../ui/channel-reason.ts'
import { Drawer } from '../../ui/dialog.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Badge, None } from '../../ui/values.tsx'
import { useChannels } from './channels.ts'
import { Section } from './parts.tsx'

type Preview = Shape<'RoutingPreview'>

const route = getRouteApi('/shell/admin/channels')

export default function RoutingPreview() {
  const { t } = useLingui()
  const { model, group = 'default' } = route.useSearch()
  const navigate = useNavigate()
  const preview = useQuery({
    queryKey: ['/api/channels', 'routing', model, group],
    queryFn: () => change('post', '/api/routing/preview', { body: { model: model ?? '', group } }),
    enabled: model !== undefined,
    staleTime: 0,
  })
  return (
    <Drawer
      label={t`Where would a request go?`}
      onClose={() =>
        void navigate({
          to: '.',
          search: (now) => ({ ...now, dialog: undefined, model: undefined, group: undefined }),
        })
      }
      header={
        <h2 className="text-section">
          <Trans>Where would a request go?</Trans>
        </h2>
      }
    >
      <div className="flex flex-col gap-6">
        <p className="text-text-2">
          <Trans>
            As the serving process that answers sees its channels now. Nothing is sent to a vendor.
          </Trans>
        </p>
        <Question key={`${model} ${group}`} model={model ?? ''} group={group} />
        {model !== undefined && (
          <Widget query={preview} skeleton={<Skeleton rows={4} />}>
            {(found) => <Answer preview={found} />}
          </Widget>
        )}
      </div>
    </Drawer>
  )
}

interface QuestionProps {
  readonly model: string
  readonly group: string
}

function Question(asked: QuestionProps) {
  const { t } = useLingui()
  const navigate = useNavigate()
  const [model, setModel] = useState(asked.model)
  const [group, setGroup] = useState(asked.group)
  const [isMissing, setMissing] = useState(false)
  const groups = useQuery(readAll('/api/configuration/groups'))
  const { data: channels = [] } = useChannels()
  const names = useId()
  const ids = [...new Set([asked.group, ...(groups.data?.items.map(({ id }) => id) ?? [])])].sort()
  const known = [...new Set(channels.flatMap(({ models }) => Object.keys(models ?? {})))].sort()
  function submit(event: FormEvent) {
    event.preventDefault()
    const isMissing = model.trim() === ''
    setMissing(isMissing)
    if (isMissing) return
    void navigate({ to: '.', search: (now) => ({ ...now, model: model.trim(), group }) })
  }
  return (
    <form onSubmit={submit} className="grid items-end gap-3 md:grid-cols-[1fr_10rem_auto]">
      <Field label={t`Model`} error={isMissing ? t`Enter a model.` : undefined}>
        <Input
          autoFocus
          list={names}
          value={model}
          autoComplete="off"
          spellCheck={false}
          placeholder="gpt-4o-mini"
          onChange={(event) => setModel(event.target.value)}
        />
      </Field>
      <datalist id={names}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Field label={t`Group`}>
        <Select value={group} onChange={(event) => setGroup(event.target.value)}>
          {ids.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </Select>
      </Field>
      <Button type="submit" variant="primary">
        <Trans>Show</Trans>
      </Button>
    </form>
  )
}

function Answer({ preview }: { readonly preview: Preview }) {
  const { t } = useLingui()
  const { channels, leftOut } = preview
  return (
    <div className="flex flex-col gap-6">
      <Section title={<Trans>Asked, in this order</Trans>}>
        {channels.length === 0 ? (
          <Empty title={<Trans>No channel would serve it.</Trans>} />
        ) : (
          <ol className="flex flex-col gap-2">
            {channels.map((channel, index) => (
              <Candidate
                key={`${channel.channel} ${channel.key} ${channel.dialect}`}
                place={index + 1}
                candidate={channel}
              />
            ))}
          </ol>
        )}
        {channels.length > 1 && (
          <p className="text-label font-normal text-text-3">
            <Trans>Among those of equal priority, one is drawn by weight for each request.</Trans>
          </p>
        )}
      </Section>
      {leftOut.length > 0 && (
        <Section title={<Trans>Left out</Trans>}>
          <ul className="divide-y divide-border">
            {leftOut.map(({ channel, key, reason }) => (
              <li
                key={`${channel} ${key}`}
                className="flex flex-wrap items-baseline justify-between gap-x-4 py-1.5"
              >
                <ChannelLink id={channel} keyName={key} />
                <span className="text-cell text-text-2">
                  {reason === '' ? <None /> : previewReasonText(reason, t)}
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  )
}

interface CandidateProps {
  readonly place: number
  readonly candidate: Preview['channels'][number]
}

function Candidate({ place, candidate }: CandidateProps) {
  const { channel, key, model, dialect, identity, priority, weight } = candidate
  return (
    <li className="flex gap-3 rounded-card border border-border p-3">
      <span className="tabular text-text-3">{place}</span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center justify-between gap-x-4">
          <ChannelLink id={channel} keyName={key} />
          <span className="text-cell text-text-2">
            <Trans>
              priority {priority}, weight {weight}
            </Trans>
          </span>
        </div>
        <p className="mt-1 flex flex-wrap items-center gap-2 text-cell text-text-2">
          <code className="font-mono text-code break-all">{model}</code>
          <span>{dialect}</span>
          <Badge tone={identity ? 'success' : 'neutral'}>
            {identity ? <Trans>passed as it is</Trans> : <Trans>translated</Trans>}
          </Badge>
        </p>
      </div>
    </li>
  )
}

function ChannelLink({ id, keyName }: { readonly id: string; readonly keyName: string | null }) {
  return (
    <span>
      <Link to="/admin/channels" search={{ open: id }} className="font-medium">
        {id}
      </Link>
      {keyName !== null && (
        <span className="text-text-2">
          {' · '}
          <Trans>key {keyName}</Trans>
        </span>
      )}
    </span>
  )
}
