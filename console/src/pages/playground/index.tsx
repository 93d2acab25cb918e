// The playground: one message to up to four models side by side, with the time and cost of each answer.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { readAll } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import type { Catalog } from '../../i18n.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failure, Skeleton } from '../../ui/state.tsx'
import { ChatView } from './chat-view.tsx'
import { type Kept, readKept } from './kept.ts'
import { KeptNote, Note } from './kept-note.tsx'
import { MediaView } from './media-view.tsx'
import type { Model } from './picker.tsx'
import { type Playground, usePlayground } from './use-playground.ts'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

const route = getRouteApi('/shell/playground')
const playable: ReadonlySet<string> = new Set(['chat', 'image', 'speech'])

export default function PlaygroundPage() {
  const me = useMe()
  const { group } = route.useSearch()
  const query = group === undefined ? {} : { group }
  const models = useQuery({ ...readAll('/api/models', query), enabled: Boolean(me) })
  const items = models.data?.items.filter(({ kind }) => playable.has(kind))
  if (!roleOf(me).mayChange)
    return (
      <Framed>
        <Empty title={<Trans>An auditor cannot send requests to models.</Trans>}>
          <Trans>Requests are charged to an account, and auditors change nothing.</Trans>
        </Empty>
      </Framed>
    )
  if (items === undefined)
    return (
      <Framed>
        {models.error === null ? (
          <Skeleton rows={8} />
        ) : (
          <Failure error={models.error} retry={() => void models.refetch()} />
        )}
      </Framed>
    )
  return <Playing account={me?.id ?? ''} models={items} />
}

function Framed({ children }: { readonly children: ReactNode }) {
  return <Page title={<Trans>Playground</Trans>}>{children}</Page>
}

interface PlayingProps {
  readonly account: string
  readonly models: readonly Model[]
}

function Playing({ account, models }: PlayingProps) {
  const { model, group } = route.useSearch()
  const navigate = useNavigate()
  const first = models.find(({ kind }) => kind === 'chat') ?? models[0]
  const chosen = model ?? (first === undefined ? [] : [first.id])
  const playground = usePlayground({ account, models: chosen, group })
  const [outcome, question] = useKept(playground)
  const viewed = useAccount()
  const kind = models.find(({ id }) => id === chosen[0])?.kind ?? 'chat'
  const shared = {
    models: models.filter((each) => each.kind === kind),
    all: models,
    chosen,
    group,
    note: (
      <>
        {viewed !== undefined && viewed !== account && (
          <Note>
            <Trans>You ask and pay with your own account here, not with {viewed}.</Trans>
          </Note>
        )}
        {outcome !== null && <KeptNote outcome={outcome} />}
        {question}
      </>
    ),
    groupChoice: <GroupChoice />,
    onModels: (next: readonly string[]) => {
      // Models of one kind are shown side by side.
      const kindOf = (id: string) => models.find((each) => each.id === id)?.kind ?? 'chat'
      const changed = next.find((id) => !chosen.includes(id)) ?? next[0] ?? ''
      const alike = next.filter((id) => kindOf(id) === kindOf(changed))
      void navigate({ to: '.', search: (before) => ({ ...before, model: alike }) })
    },
  }
  if (kind === 'image' || kind === 'speech') return <MediaView key={kind} kind={kind} {...shared} />
  return <ChatView playground={playground} {...shared} />
}

/** Shown if there is a choice. */
function GroupChoice() {
  const { t } = useLingui()
  const { group } = route.useSearch()
  const navigate = useNavigate()
  const groups = useQuery(readAll('/api/groups'))
  if ((groups.data?.items.length ?? 0) < 2) return null
  return (
    <Field hideLabel label={t`Group`}>
      <Select
        className="max-w-60"
        value={group ?? ''}
        onChange={({ target }) =>
          void navigate({
            to: '.',
            search: (before) => ({ ...before, group: target.value || undefined }),
          })
        }
      >
        <option value="">{t`My group`}</option>
        {groups.data?.items.map(({ id }) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </Select>
    </Field>
  )
}

type Outcome = React.ComponentProps<typeof KeptNote>['outcome']

/**
 * Loads the request that the address names, once, and removes it from the address: the result, null if none was named;
 * and the question whether it may replace what is here.
 */
function useKept({
  load,
  holdsText,
}: Pick<Playground, 'load' | 'holdsText'>): readonly [Outcome | null, ReactNode] {
  const { t } = useLingui()
  const { from } = route.useSearch()
  const navigate = useNavigate()
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const [waiting, setWaiting] = useState<Kept | null>(null)
  const clean = useCallback(
    (model: string | null) =>
      void navigate({
        to: '.',
        replace: true,
        search: (before) => ({ ...before, from: undefined, ...(model && { model: [model] }) }),
      }),
    [navigate],
  )
  const take = useCallback(
    ({ settings, messages, leftOut, model }: Kept) => {
      load({ settings, text: '', conversations: [messages] })
      setOutcome({ leftOut })
      clean(model)
    },
    [load, clean],
  )
  useEffect(() => {
    if (from === undefined) return
    const leave = new AbortController()
    const end = (failed: Outcome) => {
      if (leave.signal.aborted) return
      setOutcome(failed)
      clean(null)
    }
    readKept(from, leave.signal).then(
      (kept) => {
        if (typeof kept === 'string') end(kept)
        else if (holdsText()) {
          clean(null)
          setWaiting(kept)
        } else take(kept)
      },
      (error: unknown) => end(error instanceof Error ? error : new Error(String(error))),
    )
    return () => leave.abort()
  }, [from, holdsText, take, clean])
  const question = waiting !== null && (
    <Confirm
      title={<Trans>Replace what is in the playground?</Trans>}
      action={t`Replace`}
      onConfirm={async () => take(waiting)}
      onClose={() => setWaiting(null)}
    >
      <p>
        <Trans>
          The request takes the place of the conversations, the typed message and the settings here.
        </Trans>
      </p>
    </Confirm>
  )
  return [outcome, question]
}
