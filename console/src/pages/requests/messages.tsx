// The messages of a request, if the account keeps them: as a conversation, with media shown, or why there are none.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ChangeEvent, useMemo, useState } from 'react'
import { read, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { wholeCount } from '../../format.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Field, Input, Segments } from '../../ui/field.tsx'
import { Empty, Skeleton, Widget } from '../../ui/state.tsx'
import { Copy } from '../../ui/values.tsx'
import { inspectedBlobs, keptBlobs, type LoadBlob, sealedBlobs } from './blobs.ts'
import { conversationOf, type Turn } from './conversation.ts'
import { curlOf } from './copies.ts'
import { SentView, sentOf } from './sent.tsx'
import { TurnView } from './turn.tsx'
import { fromBase64, openContent, openDataKey, readSecretKey, type SecretKey } from './unseal.ts'

type Kept = Shape<'HistoryMessage'>
type Body = NonNullable<Kept['body']>

/** A longer body is shown only on request, since it would make the page slow. */
const usualLength = 200_000
/** Kept only while the page is open, and nowhere else. */
let secretInMemory: SecretKey | null = null

export default function Messages({ id }: { readonly id: string }) {
  // It is first checked whether anything is kept, since a missing message would be an error in the browser's log.
  const listed = useQuery(read('/api/history', { params: { query: { id, limit: 1 } } }))
  return (
    <Widget query={listed} skeleton={<Skeleton rows={6} />}>
      {({ items }) => (items.length === 0 ? <NotKept /> : <KeptMessages id={id} />)}
    </Widget>
  )
}

function KeptMessages({ id }: { readonly id: string }) {
  const { operator } = roleOf(useMe())
  const [inspects, setInspects] = useState(false)
  const query = useQuery({
    ...read('/api/history/{id}', { params: { path: { id } } }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (inspects) return <Inspected id={id} />
  return (
    <Widget query={query} skeleton={<Skeleton rows={6} />}>
      {(kept) => (
        <div className="flex flex-col gap-3">
          <KeptView id={id} kept={kept} />
          {operator && kept.mode === 'full' && (
            <div className="flex flex-wrap items-center gap-3">
              <Button onClick={() => setInspects(true)}>
                <Trans>Read it with what vendors were sent</Trans>
              </Button>
              <span className="text-label font-normal text-text-3">
                <Trans>The audit log records it.</Trans>
              </span>
            </div>
          )}
        </div>
      )}
    </Widget>
  )
}

function KeptView({ id, kept }: { readonly id: string; readonly kept: Kept }) {
  const { body, sealed, format, withheld } = kept
  const loadBlob = useMemo(() => keptBlobs(id), [id])
  if (body !== null) return <BodyView readableId={id} {...{ format, body, loadBlob }} />
  if (sealed !== null) return <Sealed id={id} format={format} sealed={sealed} />
  if (!withheld) return <NotKept />
  return (
    <Empty title={<Trans>Only the account itself may read these messages.</Trans>}>
      <Trans>An operator may where the deployment sets history.adminReads.</Trans>
    </Empty>
  )
}

/** Each reading is recorded, so it is requested once, after a person confirmed. */
function Inspected({ id }: { readonly id: string }) {
  const loadBlob = useMemo(() => inspectedBlobs(id), [id])
  const query = useQuery({
    ...read('/api/admin/history/{id}', { params: { path: { id } } }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return (
    <Widget query={query} skeleton={<Skeleton rows={6} />}>
      {({ body, format }) =>
        body === null ? <NotKept /> : <BodyView {...{ format, body, loadBlob }} />
      }
    </Widget>
  )
}

function NotKept() {
  return (
    <Empty
      title={<Trans>No messages of this request were kept.</Trans>}
      action={
        <Link to="/settings" search={{ tab: 'history' }}>
          <Trans>Message history in the settings</Trans>
        </Link>
      }
    >
      <Trans>
        Messages are kept only for accounts and keys that ask for it, and only of requests that
        begin afterwards.
      </Trans>
    </Empty>
  )
}

interface BodyViewProps {
  /** The client's format: `openai-chat`, ... */
  readonly format: string
  readonly body: Body
  readonly loadBlob: LoadBlob
  /** Where another page may read it as well. */
  readonly readableId?: string
}

function BodyView(props: BodyViewProps) {
  const { i18n } = useLingui()
  const [isWhole, setWhole] = useState(false)
  const json = JSON.stringify(props.body, null, 2)
  if (json.length <= usualLength || isWhole) return <WholeBody {...props} json={json} />
  const length = wholeCount(json.length, i18n.locale)
  return (
    <Empty
      title={<Trans>These messages have {length} characters.</Trans>}
      action={
        <Button onClick={() => setWhole(true)}>
          <Trans>Show all of it</Trans>
        </Button>
      }
    />
  )
}

type View = 'chat' | 'json' | 'sent'

function WholeBody({
  format,
  body,
  json,
  loadBlob,
  readableId,
}: BodyViewProps & { readonly json: string }) {
  const { t } = useLingui()
  const turns = conversationOf(body.request, body.reply)
  const sent = sentOf(body.sent)
  const [view, setView] = useState<View>(turns === null ? 'json' : 'chat')
  const [text, setText] = useState('')
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-2">
        <Segments<View>
          label={t`How it is shown`}
          value={view}
          onChange={setView}
          options={[
            ...(turns === null ? [] : [{ value: 'chat' as const, label: t`Conversation` }]),
            { value: 'json', label: 'JSON' },
            ...(sent.length === 0 ? [] : [{ value: 'sent' as const, label: t`Sent to vendors` }]),
          ]}
        />
        {view === 'chat' && (
          <div className="w-48">
            <Field hideLabel label={t`Search in the messages`}>
              <Input
                value={text}
                placeholder={t`Search`}
                onChange={(event) => setText(event.target.value)}
              />
            </Field>
          </div>
        )}
        <Copy text={json} />
        <Again id={turns === null ? undefined : readableId} format={format} body={body} />
      </div>
      {view === 'sent' && <SentView asked={body.request} sent={sent} />}
      {view === 'json' && (
        <pre
          tabIndex={0}
          className="max-h-[70vh] overflow-auto rounded-card bg-sunken p-3 font-mono text-code"
        >
          {json}
        </pre>
      )}
      {view === 'chat' && <Conversation turns={matching(turns ?? [], text)} loadBlob={loadBlob} />}
    </div>
  )
}

function matching(turns: readonly Turn[], text: string): readonly Turn[] {
  const sought = text.toLowerCase()
  return turns.filter((turn) => JSON.stringify(turn).toLowerCase().includes(sought))
}

interface AgainProps {
  /** undefined: the playground does not support it. */
  readonly id: string | undefined
  readonly format: string
  readonly body: Body
}

/** Ways to make the request again. */
function Again({ id, format, body }: AgainProps) {
  const curl = curlOf(location.origin, format, body.request)
  return (
    <>
      {curl !== null && (
        <CopyButton text={curl}>
          <Trans>Copy as curl</Trans>
        </CopyButton>
      )}
      {id !== undefined && (
        <Link to="/playground" search={{ from: id }} className={buttonClass()}>
          <Trans>Open in the playground</Trans>
        </Link>
      )}
    </>
  )
}

interface ConversationProps {
  readonly turns: readonly Turn[]
  readonly loadBlob: LoadBlob
}

function Conversation({ turns, loadBlob }: ConversationProps) {
  return (
    <ol className="flex flex-col gap-3">
      {turns.map((turn, index) => (
        <li key={index}>
          <TurnView turn={turn} loadBlob={loadBlob} />
        </li>
      ))}
      {turns.length === 0 && (
        <li className="text-text-2">
          <Trans>Nothing said matches.</Trans>
        </li>
      )}
    </ol>
  )
}

interface SealedProps {
  readonly id: string
  readonly format: string
  readonly sealed: NonNullable<Kept['sealed']>
}

/** The secret key is read here from the person's own file, and never sent. */
function Sealed({ id, format, sealed }: SealedProps) {
  const [opened, setOpened] = useState<Pick<BodyViewProps, 'body' | 'loadBlob'> | null>(null)
  const [isWrong, setWrong] = useState(false)
  async function open(secret: SecretKey) {
    try {
      const key = await openDataKey(fromBase64(sealed.wrappedKey), id, secret)
      const body = (await openContent(fromBase64(sealed.content), id, key)) as Body
      setOpened({ body, loadBlob: sealedBlobs(id, key) })
      secretInMemory = secret
    } catch {
      setWrong(true)
    }
  }
  async function choose(event: ChangeEvent<HTMLInputElement>) {
    const [file] = event.target.files ?? []
    // The same file may be chosen again after a change.
    event.target.value = ''
    if (file === undefined) return
    try {
      await open(readSecretKey(await file.text()))
    } catch {
      setWrong(true)
    }
  }
  if (opened !== null) return <BodyView format={format} {...opened} />
  const known = secretInMemory
  return (
    <Empty
      title={<Trans>These messages are sealed.</Trans>}
      action={
        known !== null && (
          <Button variant="primary" onClick={() => void open(known)}>
            <Trans>Open with the key chosen before</Trans>
          </Button>
        )
      }
    >
      <p>
        <Trans>
          Only your secret key opens them. It is read in this browser and sent nowhere; it is
          forgotten when the page closes.
        </Trans>
      </p>
      <div className="mt-3 text-left">
        <Field
          label={<Trans>File with the secret key</Trans>}
          error={isWrong ? <Trans>This key does not open them.</Trans> : undefined}
        >
          <Input
            type="file"
            accept=".json,application/json"
            onChange={(event) => void choose(event)}
          />
        </Field>
      </div>
    </Empty>
  )
}
