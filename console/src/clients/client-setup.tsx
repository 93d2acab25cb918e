// The configuration of a chosen client, with this gateway's address and a key filled in, ready to copy.

import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { readAll } from '../api/client.ts'
import { Field, Input } from '../ui/field.tsx'
import { Failure } from '../ui/state.tsx'
import type { Client } from './client.ts'
import { clients } from './clients.ts'
import { CodeBlock } from './code-block.tsx'
import { clientNotes } from './notes.ts'

interface ClientSetupProps {
  /** null: not known; the text then has a placeholder. */
  readonly secret: string | null
  /** The group whose models are offered; left out: the account's first group. */
  readonly group?: string | undefined
  readonly client: string | undefined
  readonly onClient: (id: string) => void
  readonly model: string | undefined
  readonly onModel: (model: string | undefined) => void
}

export function ClientSetup(props: ClientSetupProps) {
  const { secret, group, client: asked, onClient, model: wanted, onModel } = props
  const { t } = useLingui()
  const list = useId()
  // The typed value, which may be empty for a moment.
  const [typed, setTyped] = useState<string>()
  const models = useQuery(
    readAll('/api/models', { kind: 'chat', ...(group !== undefined && { group }) }),
  )
  const names = models.data?.items.map(({ id }) => id) ?? []
  const model = wanted ?? names[0] ?? ''
  const client = clients.find(({ id }) => id === asked) ?? clients[0]
  const note = client === undefined ? undefined : clientNotes[client.id]
  const key = secret ?? 'YOUR_KEY'
  return (
    <div className="flex flex-col gap-4">
      <ClientPicker chosen={client?.id} onChoose={onClient} />
      <div className="max-w-sm">
        <Field
          label={t`Model`}
          hint={
            names.length === 0 && models.isSuccess ? (
              <Trans>This group has no chat model that is served and priced now.</Trans>
            ) : (
              <Trans>Any model of the key's group. It is written into the text below.</Trans>
            )
          }
        >
          <Input
            list={list}
            value={typed ?? model}
            onChange={({ target }) => {
              setTyped(target.value)
              onModel(target.value.trim() || undefined)
            }}
            onBlur={() => setTyped(undefined)}
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
        <datalist id={list}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      {models.error !== null && (
        <Failure error={models.error} retry={() => void models.refetch()} />
      )}
      {note !== undefined && <p className="text-text-2">{t(note)}</p>}
      {client?.steps({ base: location.origin, key, model: model || 'MODEL' }).map((step) => (
        <CodeBlock key={`${client.id} ${step.where}`} {...step} />
      ))}
    </div>
  )
}

interface PickerProps {
  readonly chosen: string | undefined
  readonly onChoose: (id: string) => void
}

function ClientPicker({ chosen, onChoose }: PickerProps) {
  const { t } = useLingui()
  const kinds: readonly (readonly [Client['kind'], string])[] = [
    ['code', t`Code`],
    ['agent', t`Coding agents`],
    ['app', t`Apps`],
  ]
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="sr-only">
        <Trans>Client</Trans>
      </legend>
      {kinds.map(([kind, label]) => (
        <div key={kind} className="flex flex-col gap-x-3 gap-y-1 md:flex-row md:items-baseline">
          <span className="w-28 shrink-0 text-label text-text-2">{label}</span>
          <div className="flex flex-wrap gap-1.5">
            {clients
              .filter((client) => client.kind === kind)
              .map(({ id, name }) => (
                <label
                  key={id}
                  className="inline-flex min-h-7 items-center rounded-control border border-border bg-surface px-2.5 text-cell select-none hover:border-border-strong has-checked:border-accent has-checked:bg-info-tint has-checked:text-accent has-focus-visible:outline-2 has-focus-visible:outline-accent max-md:min-h-11"
                >
                  <input
                    type="radio"
                    name="client"
                    className="sr-only"
                    checked={id === chosen}
                    onChange={() => onChoose(id)}
                  />
                  {name}
                </label>
              ))}
          </div>
        </div>
      ))}
    </fieldset>
  )
}
