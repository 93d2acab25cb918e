// The playground: one message to up to four models side by side, with the time and cost of each answer.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { readAll } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import type { Catalog } from '../../i18n.ts'
import { Field, Select } from '../../ui/field.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Failure, Skeleton } from '../../ui/state.tsx'
import { ChatView } from './chat-view.tsx'
import { readKept } from './kept.ts'
import { KeptNote, Note } from './kept-note.tsx'
import { MediaView } from './media-view.tsx'
import type { Model } from './picker.tsx'
import { usePlayground } from './use-playground.ts'

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

function Framed({ children }: { readonly children: React.ReactNode }) {
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
  const outcome = useKept(playground.load)
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

type Load = ReturnType<typeof usePlayground>['load']
type Outcome = React.ComponentProps<typeof KeptNote>['outcome']

/** Loads the request that the address names, once, and removes it from the address. null: none was named. */
function useKept(load: Load): Outcome | null {
  const { from } = route.useSearch()
  const navigate = useNavigate()
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  useEffect(() => {
    if (from === undefined) return
    const leave = new AbortController()
    const clean = (model?: string | null) =>
      void navigate({
        to: '.',
        replace: true,
        search: (before) => ({ ...before, from: undefined, ...(model && { model: [model] }) }),
      })
    readKept(from, leave.signal).then(
      (kept) => {
        if (typeof kept === 'string') setOutcome(kept)
        else {
          load({ settings: kept.settings, text: '', conversations: [kept.messages] })
          setOutcome({ leftOut: kept.leftOut })
        }
        clean(typeof kept === 'string' ? null : kept.model)
      },
      (error: unknown) => {
        if (leave.signal.aborted) return
        setOutcome(error instanceof Error ? error : new Error(String(error)))
        clean()
      },
    )
    return () => leave.abort()
  }, [from, load, navigate])
  return outcome
}
