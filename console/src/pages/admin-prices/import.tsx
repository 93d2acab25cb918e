// A published list of prices, compared with those in force: models can be applied one by one, or all of them.

import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { change, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import { Button, Buttons } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox, Field, Input, TextArea } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, ProblemLine, ProblemText } from '../../ui/state.tsx'
import { showToast } from '../../ui/toast.tsx'
import { Differences } from './prices.tsx'
import { refreshPrices } from './refresh.ts'

interface Asked {
  readonly document: string
  readonly vendor?: string
}

interface ImportProps {
  readonly onOpen: (model: string) => void
}

export function Import(props: ImportProps) {
  const { admin } = roleOf(useMe())
  if (admin) return <Comparing {...props} />
  return (
    <Card>
      <Empty title={<Trans>Only administrators compare lists.</Trans>} />
    </Card>
  )
}

function Comparing({ onOpen }: ImportProps) {
  const { t } = useLingui()
  const [document, setDocument] = useState('')
  const [vendor, setVendor] = useState('')
  const compare = useMutation({
    mutationFn: (body: Asked) => change('post', '/api/prices/import', { body }),
  })
  // What was compared, whatever the fields contain by now.
  const asked = compare.variables
  function submit(event: FormEvent) {
    event.preventDefault()
    compare.mutate({ document, ...(vendor.trim() !== '' && { vendor: vendor.trim() }) })
  }
  return (
    <>
      <Card title={<Trans>A published list</Trans>}>
        <form onSubmit={submit} className="flex flex-col gap-4">
          <Field
            label={t`Document`}
            hint={t`The JSON of models.dev, or a price list of another gateway as docs/catalogue.md names them. It is read here and in the gateway, and kept nowhere.`}
            error={compare.error === null ? undefined : <ProblemText error={compare.error} />}
          >
            <TextArea
              rows={6}
              spellCheck={false}
              value={document}
              onChange={({ target }) => setDocument(target.value)}
            />
          </Field>
          <div className="flex flex-wrap items-end gap-4">
            <Field label={t`Or a file`}>
              <Input
                type="file"
                accept=".json,application/json"
                onChange={({ target }) => {
                  void target.files?.[0]?.text().then(setDocument)
                  target.value = ''
                }}
              />
            </Field>
            <Field label={t`Only of the vendor`}>
              <Input
                autoComplete="off"
                placeholder="openai"
                value={vendor}
                onChange={({ target }) => setVendor(target.value)}
              />
            </Field>
            <Button
              type="submit"
              variant="primary"
              busy={compare.isPending}
              disabled={document.trim() === ''}
            >
              <Trans>Compare</Trans>
            </Button>
          </div>
        </form>
      </Card>
      {compare.data !== undefined && asked !== undefined && (
        <Compared
          compared={compare.data}
          asked={asked}
          onOpen={onOpen}
          again={() => compare.mutate(asked)}
        />
      )}
    </>
  )
}

interface ComparedProps {
  readonly compared: Shape<'PriceImport'>
  readonly asked: Asked
  readonly onOpen: (model: string) => void
  readonly again: () => void
}

function Compared({ compared, asked, onOpen, again }: ComparedProps) {
  const { t } = useLingui()
  const client = useQueryClient()
  const [allowLarge, setAllowLarge] = useState(false)
  const take = useMutation({
    mutationFn: (model?: string) => {
      const body = { ...asked, ...(model !== undefined && { model }), apply: true, allowLarge }
      return change('post', '/api/prices/import', { body })
    },
    async onSuccess({ applied, versions }) {
      if (!applied) return
      const text = <Plural value={versions.length} one="# price taken." other="# prices taken." />
      showToast({ text, tone: 'info' })
      await refreshPrices(client)
      again()
    },
  })
  const { changes, models } = compared
  const differing = changes.length
  const isLarge = changes.some(({ differences }) => differences.some(({ large }) => large))
  const notTaken = take.data !== undefined && !take.data.applied
  return (
    <Card
      title={
        <Plural
          value={models}
          one={`${differing} of # model differs`}
          other={`${differing} of # models differ`}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <LeftOut {...compared} />
        {isLarge && (
          <Checkbox
            label={t`Also take prices that change more than tenfold`}
            checked={allowLarge}
            onChange={({ target }) => setAllowLarge(target.checked)}
          />
        )}
        {notTaken && (
          <p role="alert" className="text-danger">
            <Trans>Nothing was taken: a price changes more than tenfold.</Trans>
          </p>
        )}
        {take.error !== null && <ProblemLine error={take.error} />}
        {changes.length === 0 ? (
          <Empty title={<Trans>The prices in force are those of the list.</Trans>} />
        ) : (
          <>
            <TakeAll
              count={changes.length}
              isBusy={take.isPending}
              onTake={() => take.mutate(undefined)}
            />
            <Changes
              changes={changes}
              isBusy={take.isPending}
              onOpen={onOpen}
              onTake={take.mutate}
            />
          </>
        )}
      </div>
    </Card>
  )
}

interface TakeAllProps {
  readonly count: number
  readonly isBusy: boolean
  readonly onTake: () => void
}

function TakeAll({ count, isBusy, onTake }: TakeAllProps) {
  const { t } = useLingui()
  const [isAsking, setAsking] = useState(false)
  return (
    <Buttons>
      <Button busy={isBusy} onClick={() => setAsking(true)}>
        <Trans>Take all {count}</Trans>
      </Button>
      {isAsking && (
        <Confirm
          danger={false}
          title={
            <Plural
              value={count}
              one="Take the price of # model?"
              other="Take the prices of # models?"
            />
          }
          action={t`Take all`}
          onConfirm={async () => onTake()}
          onClose={() => setAsking(false)}
        >
          <p>
            <Trans>All customers pay them from their next request.</Trans>
          </p>
        </Confirm>
      )}
    </Buttons>
  )
}

function LeftOut({ refused, inFile }: Pick<Shape<'PriceImport'>, 'refused' | 'inFile'>) {
  return (
    <>
      {refused.length > 0 && (
        <p className="text-text-2">
          <Trans>Left out, as they cannot be read: {refused.join(', ')}</Trans>
        </p>
      )}
      {inFile.length > 0 && (
        <p className="text-text-2">
          <Trans>
            Priced by the configuration file, which takes precedence: {inFile.join(', ')}
          </Trans>
        </p>
      )}
    </>
  )
}

interface ChangesProps {
  readonly changes: Shape<'PriceImport'>['changes']
  readonly isBusy: boolean
  readonly onOpen: (model: string) => void
  readonly onTake: (model: string) => void
}

function Changes({ changes, isBusy, onOpen, onTake }: ChangesProps) {
  return (
    <ul className="flex flex-col divide-y divide-border">
      {changes.map(({ model, differences }) => (
        <li key={model} className="flex flex-wrap items-start gap-x-4 gap-y-1 py-2">
          <button
            type="button"
            className="min-w-48 text-left font-medium underline"
            onClick={() => onOpen(model)}
          >
            {model}
          </button>
          <span className="min-w-0 flex-1">
            <Differences of={differences} />
          </span>
          <Button busy={isBusy} onClick={() => onTake(model)}>
            <Trans>Take</Trans>
          </Button>
        </li>
      ))}
    </ul>
  )
}
