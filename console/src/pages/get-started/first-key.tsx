// The first step: a key is made here, or an existing secret is pasted; it is kept only in the page's memory.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { change, Problem, type Reply, randomId, readAll } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { useAccount } from '../../app/account-scope.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Segments, Select } from '../../ui/field.tsx'
import { refusalText } from '../../ui/refusal.ts'
import { Failure } from '../../ui/state.tsx'
import { Copy } from '../../ui/values.tsx'

export interface HeldKey {
  readonly secret: string
  /** null: for a pasted secret, nothing else is known. */
  readonly id: string | null
  readonly name: string | null
  readonly group?: string
}

interface FirstKeyProps {
  readonly held: HeldKey | null
  readonly onHeld: (held: HeldKey | null) => void
}

export function FirstKey({ held, onHeld }: FirstKeyProps) {
  const { t } = useLingui()
  const { mayChange } = roleOf(useMe())
  const [way, setWay] = useState<'make' | 'paste'>(mayChange ? 'make' : 'paste')
  const [isAnother, setAnother] = useState(false)
  function onAnother() {
    setAnother(true)
    onHeld(null)
  }
  if (held !== null && held.id !== null) return <Made held={held} onAnother={onAnother} />
  return (
    <div className="flex flex-col gap-3">
      {mayChange && (
        <div>
          <Segments
            label={t`Where the key comes from`}
            value={way}
            options={[
              { value: 'make', label: <Trans>Create a key</Trans> },
              { value: 'paste', label: <Trans>I have one</Trans> },
            ]}
            onChange={(next) => {
              setAnother(false)
              setWay(next)
              onHeld(null)
            }}
          />
        </div>
      )}
      {way === 'make' ? (
        <Making isAnother={isAnother} onMade={onHeld} />
      ) : (
        <div className="max-w-lg">
          <Field
            label={t`Secret of the key`}
            hint={t`It is written into the text below and stays in this page: it is sent nowhere and not kept.`}
          >
            <Input
              type="password"
              autoComplete="off"
              spellCheck={false}
              placeholder="sk-tg-…"
              value={held?.secret ?? ''}
              onChange={(event) => {
                const secret = event.target.value.trim()
                onHeld(secret === '' ? null : { secret, id: null, name: null })
              }}
            />
          </Field>
        </div>
      )}
    </div>
  )
}

function Made({ held, onAnother }: { readonly held: HeldKey; readonly onAnother: () => void }) {
  const { t } = useLingui()
  const said = useRef<HTMLParagraphElement>(null)
  // The button that made it has left the page, and the focus with it.
  useEffect(() => said.current?.focus(), [])
  return (
    <div className="flex flex-col gap-3">
      <p ref={said} tabIndex={-1} className="outline-none">
        <span aria-hidden="true" className="text-success">
          ●
        </span>{' '}
        <Trans>Key {held.name} is made. Save its secret: it is not shown again.</Trans>
      </p>
      <p className="flex max-w-2xl items-center justify-between gap-2 rounded-card border border-warning/50 bg-warning-tint py-1.5 pr-1.5 pl-3">
        <code className="min-w-0 font-mono text-code break-all" data-secret>
          {held.secret}
        </code>
        <Copy text={held.secret} label={t`Copy the secret`} />
      </p>
      <p className="flex flex-wrap gap-x-4 gap-y-1">
        {/* In this tab the secret would be gone. */}
        <Link to="/keys" search={{ open: held.id ?? undefined }} target="_blank">
          <Trans>Set its limits</Trans>
        </Link>
        <button type="button" className="text-accent hover:underline" onClick={onAnother}>
          <Trans>Use another key</Trans>
        </button>
      </p>
    </div>
  )
}

interface MakingProps {
  /** One was made before: the link that asked for another has left the page, and the focus with it. */
  readonly isAnother: boolean
  readonly onMade: (held: HeldKey) => void
}

function Making({ isAnother, onMade }: MakingProps) {
  const groups = useQuery(readAll('/api/groups'))
  if (groups.data === undefined && groups.error !== null)
    return <Failure error={groups.error} retry={() => void groups.refetch()} />
  return <MakeForm groups={groups.data?.items} isAnother={isAnother} onMade={onMade} />
}

type Groups = Reply<'get', '/api/groups'>['items']

interface MakeFormProps extends MakingProps {
  /** undefined: not known yet. */
  readonly groups: Groups | undefined
}

function MakeForm({ groups, isAnother, onMade }: MakeFormProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const account = useAccount()
  const [name, setName] = useState(() => t`My first key`)
  const [chosen, setChosen] = useState<string>()
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setBusy] = useState(false)
  const attempt = useRef({ typed: '', idempotencyKey: '' })
  const items = groups ?? []
  const first = items.find(({ id }) => id === 'default') ?? items[0]
  const group = chosen ?? first?.id ?? ''
  const field = error instanceof Problem ? error.field : null
  const refused = error === null ? undefined : refusalText(error)
  const nameError = name.trim() === '' ? t`Give the key a name.` : refused
  async function submit(event: FormEvent) {
    event.preventDefault()
    if (isBusy) return
    const typed = JSON.stringify([name, group, account])
    if (attempt.current.typed !== typed) attempt.current = { typed, idempotencyKey: randomId() }
    setBusy(true)
    setError(null)
    try {
      const body = { name: name.trim(), group, ...(account !== undefined && { account }) }
      const { idempotencyKey } = attempt.current
      const { id, secret } = await change('post', '/api/keys', { body, idempotencyKey })
      onMade({ id, secret, name: body.name, group })
      void client.invalidateQueries({ queryKey: ['/api/keys'] })
    } catch (failure) {
      setError(failure as Error)
      setBusy(false)
    }
  }
  return (
    <form
      noValidate
      onSubmit={(event) => void submit(event)}
      className="flex flex-col gap-3"
      aria-label={t`Create a key`}
    >
      <div className="grid max-w-2xl items-start gap-3 md:grid-cols-[1fr_1fr_auto]">
        <Field label={t`Name`} error={field === 'name' ? nameError : undefined}>
          <Input
            autoFocus={isAnother}
            autoComplete="off"
            maxLength={128}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <GroupField
          groups={groups}
          value={group}
          error={field === 'group' ? refused : undefined}
          onChange={setChosen}
        />
        <div className="md:pt-5">
          <Button type="submit" variant="primary" busy={isBusy} disabled={groups === undefined}>
            <Trans>Create key</Trans>
          </Button>
        </div>
      </div>
      {error !== null && field !== 'name' && field !== 'group' && <Failure error={error} />}
    </form>
  )
}

interface GroupFieldProps {
  readonly groups: Groups | undefined
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (id: string) => void
}

function GroupField({ groups, value, error, onChange }: GroupFieldProps) {
  const { t } = useLingui()
  return (
    <Field label={t`Group`} error={error}>
      <Select
        disabled={groups === undefined}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {groups?.map(({ id, multiplier }) => (
          <option key={id} value={id}>
            {multiplier === '1' ? id : t`${id} (prices × ${multiplier})`}
          </option>
        ))}
      </Select>
    </Field>
  )
}
