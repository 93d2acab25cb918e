// Deployment: the settings that change while servers run, what the file declares, and how backups are made.

import type { MessageDescriptor } from '@lingui/core'
import { msg, plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { useForm } from 'react-hook-form'
import { change, read, readAll, type Shape } from '../../api/client.ts'
import { roleOf, useMe } from '../../api/queries.ts'
import type { Catalog } from '../../i18n.ts'
import { Actor } from '../../ui/actor.tsx'
import { Button, Buttons } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Checkbox, Field, Input, Select } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { KeepDraft } from '../../ui/keep-draft.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Skeleton, Widget } from '../../ui/state.tsx'
import { showProblem, showToast } from '../../ui/toast.tsx'
import { useNewest } from '../../ui/use-newest.ts'
import { useRefusal } from '../../ui/use-refusal.ts'
import { Badge, Copy, Time } from '../../ui/values.tsx'
import { haveTexts, haveTimes, NoticesInput, readNotices, writeNotices } from './notices-input.tsx'
import { Webhooks } from './webhooks.tsx'

export const catalog: Catalog = (language) => import(`./locales/${language}.po`)

type Setting = Shape<'Setting'>

/** In px, of a setting with one line: what is below must not move when the settings arrive. */
const cardHeight = 170

interface Kind {
  readonly title: MessageDescriptor
  readonly detail: MessageDescriptor
  /** Choices: by value, in words. */
  readonly input:
    | 'group'
    | 'days'
    | 'switch'
    | 'notices'
    | Readonly<Record<string, MessageDescriptor>>
}

const kinds: Readonly<Record<Setting['name'], Kind>> = {
  'identity.signUp': {
    title: msg`Who may join`,
    detail: msg`By signing in at a provider: anyone, those with an invitation, or nobody new.`,
    input: {
      open: msg`Anyone`,
      invite: msg`Those with an invitation`,
      closed: msg`Nobody new`,
    },
  },
  'identity.defaultGroup': {
    title: msg`Group of new accounts`,
    detail: msg`Says which models they may use and at what price.`,
    input: 'group',
  },
  'usage.keepDays': {
    title: msg`Records of requests`,
    detail: msg`How many days each request’s record is kept; empty: for ever. Totals and the journal stay.`,
    input: 'days',
  },
  'history.mode': {
    title: msg`Messages of accounts that have not chosen`,
    detail: msg`What is kept of what was asked and answered.`,
    input: {
      off: msg`Off: nothing is kept`,
      metadata: msg`Metadata: figures only`,
      sealed: msg`Sealed: only the account’s own key opens them`,
      full: msg`Full: messages are kept, encrypted`,
    },
  },
  'history.keepDays': {
    title: msg`Days that messages are kept`,
    detail: msg`Where their account has not chosen.`,
    input: 'days',
  },
  statusPage: {
    title: msg`Public status page`,
    detail: msg`Anyone may see how the models of public groups have performed.`,
    input: 'switch',
  },
  notices: {
    title: msg`Notices`,
    detail: msg`Shown to everybody who is signed in, above the overview.`,
    input: 'notices',
  },
}

export default function AdminSettingsPage() {
  const settings = useQuery(read('/api/settings'))
  const backup = useQuery(read('/api/backup'))
  const [typedInto, setTypedInto] = useState<readonly string[]>([])
  return (
    <Page
      title={<Trans>Deployment</Trans>}
      purpose={
        <Trans>
          Changes take effect in every server within a second. What the configuration file declares
          takes precedence.
        </Trans>
      }
    >
      <KeepDraft isDirty={typedInto.length > 0} />
      <Widget query={settings} skeleton={<Skeleton rows={7} height={cardHeight} />}>
        {({ items }) => (
          <div className="flex flex-col gap-4">
            {items.map((setting) => (
              <SettingCard key={setting.name} setting={setting} onTyped={setTypedInto} />
            ))}
          </div>
        )}
      </Widget>
      <Webhooks />
      <Card title={<Trans>Backup</Trans>}>
        <Widget query={backup}>
          {({ command }) => (
            <p className="flex flex-wrap items-center gap-2">
              <Trans>While the server runs:</Trans>
              <code className="rounded bg-sunken px-2 py-1 font-mono text-code">{command}</code>
              <Copy text={command} />
            </p>
          )}
        </Widget>
      </Card>
    </Page>
  )
}

interface Values {
  readonly text: string
}

/** Saves what is typed, and restores the default. */
function useSettingForm(setting: Setting) {
  const { t } = useLingui()
  const client = useQueryClient()
  const { name } = setting
  const valuesFrom = (shown: Setting): Values => ({ text: textOf(shown, kinds[name]) })
  const form = useForm<Values>({ defaultValues: valuesFrom(setting) })
  const { problem, attempt, clear } = useRefusal(form, () => 'text')
  const newest = useNewest({ form, shown: setting, valuesOf: valuesFrom, clear })
  const refresh = () =>
    Promise.all(
      ['/api/settings', '/api/notices'].map((path) =>
        client.invalidateQueries({ queryKey: [path] }),
      ),
    )
  const saved = () => showToast({ text: t`Saved.`, tone: 'info' })
  const params = { path: { name } }
  async function send(values: Values) {
    const value = valueOf(values.text, kinds[name])
    const { revision: ifMatch } = newest.base
    await attempt(async () => {
      try {
        await change('put', '/api/settings/{name}', { params, body: { value }, ifMatch })
      } finally {
        await refresh()
      }
      form.reset(values)
      saved()
    })
  }
  const reset = useMutation({
    mutationFn: () =>
      change('delete', '/api/settings/{name}', { params, ifMatch: setting.revision }),
    async onSuccess() {
      await refresh()
      saved()
    },
    async onError(error) {
      await refresh()
      showProblem(error)
    },
  })
  return { form, problem, newest, reset, submit: form.handleSubmit(send) }
}

interface SettingCardProps {
  readonly setting: Setting
  /** Changes the list of the settings whose fields hold what is not saved. */
  readonly onTyped: (change: (names: readonly string[]) => readonly string[]) => void
}

function SettingCard({ setting, onTyped }: SettingCardProps) {
  const { t } = useLingui()
  const { admin } = roleOf(useMe())
  const { name, declared, changedAt, actor } = setting
  const kind = kinds[name]
  const { form, problem, newest, reset, submit } = useSettingForm(setting)
  const { errors, isDirty, isSubmitting } = form.formState
  useEffect(() => {
    if (!isDirty) return
    onTyped((names) => [...names, name])
    return () => onTyped((names) => names.filter((each) => each !== name))
  }, [isDirty, name, onTyped])
  form.register('text', {
    validate(typed) {
      if (kind.input !== 'notices') return true
      const notices = readNotices(typed)
      if (!haveTimes(notices)) return t`Write the whole date and time, with a year from 1970 on.`
      return haveTexts(notices) || t`Each notice needs a text.`
    },
  })
  return (
    <Card
      title={t(kind.title)}
      actions={
        declared ? (
          <Badge tone="info">
            <Trans>declared in the configuration file</Trans>
          </Badge>
        ) : (
          changedAt !== null && (
            <span className="text-label font-normal text-text-2">
              <Actor actor={actor} /> · <Time relative at={changedAt} />
            </span>
          )
        )
      }
    >
      <form onSubmit={(event) => void submit(event)} className="flex max-w-2xl flex-col gap-3">
        <SettingField
          setting={setting}
          text={form.watch('text')}
          error={errors.text?.message}
          onChange={(text) => {
            form.clearErrors('text')
            form.setValue('text', text, { shouldDirty: true })
          }}
          disabled={declared || !admin}
        />
        <FormProblem problem={problem} newest={newest} actor={actor} changedAt={changedAt} />
        {admin && !declared && (
          <Buttons>
            <Button type="submit" busy={isSubmitting} disabled={!isDirty || newest.isStale}>
              <Trans>Save</Trans>
            </Button>
            {changedAt !== null && (
              <ResetButton
                word={wordOf(setting.default, kind, t)}
                losesText={isDirty || kind.input === 'notices'}
                isBusy={reset.isPending}
                onReset={reset.mutate}
              />
            )}
          </Buttons>
        )}
      </form>
    </Card>
  )
}

interface ResetButtonProps {
  /** The default in words. */
  readonly word: string
  /** What is lost was typed, and cannot be chosen again: a question comes first. */
  readonly losesText: boolean
  readonly isBusy: boolean
  readonly onReset: () => void
}

function ResetButton({ word, losesText, isBusy, onReset }: ResetButtonProps) {
  const { t } = useLingui()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button
        variant="quiet"
        busy={isBusy}
        onClick={() => (losesText ? setAsking(true) : onReset())}
      >
        <Trans>Back to the default: {word}</Trans>
      </Button>
      {isAsking &&
        // Browsers keep the events of a form within another one from the page's handlers.
        createPortal(
          <Confirm
            title={<Trans>Back to the default?</Trans>}
            action={t`Back to the default`}
            onConfirm={async () => onReset()}
            onClose={() => setAsking(false)}
          >
            <p>
              <Trans>What is written here is lost.</Trans>
            </p>
          </Confirm>,
          document.body,
        )}
    </>
  )
}

interface SettingFieldProps extends Omit<SettingInputProps, 'kind'> {
  readonly setting: Setting
  readonly error: string | undefined
}

/** Notices have fields of their own: the setting's name is the heading of all of them. */
function SettingField({ setting: { name }, error, ...rest }: SettingFieldProps) {
  const { t } = useLingui()
  const kind = kinds[name]
  const label = <code className="font-mono">{name}</code>
  if (kind.input !== 'notices')
    return (
      <Field label={label} hint={t(kind.detail)} error={error}>
        <SettingInput kind={kind} {...rest} />
      </Field>
    )
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="text-label text-text-2">{label}</legend>
      <p className="text-label font-normal text-text-3">{t(kind.detail)}</p>
      <NoticesInput
        notices={readNotices(rest.text)}
        disabled={rest.disabled}
        onChange={(notices) => rest.onChange(writeNotices(notices))}
      />
      {error !== undefined && (
        <p role="alert" className="text-label font-normal text-danger">
          {error}
        </p>
      )}
    </fieldset>
  )
}

interface SettingInputProps {
  readonly kind: Kind
  readonly text: string
  readonly onChange: (text: string) => void
  readonly disabled: boolean
}

function SettingInput({ kind: { input }, text, onChange, disabled }: SettingInputProps) {
  const { t } = useLingui()
  const common = { value: text, disabled }
  if (input === 'switch')
    return (
      <Checkbox
        label={t`On`}
        disabled={disabled}
        checked={text === 'true'}
        onChange={(event) => onChange(String(event.target.checked))}
      />
    )
  if (input === 'group') return <GroupInput text={text} disabled={disabled} onChange={onChange} />
  if (input === 'days')
    return (
      <Input
        {...common}
        inputMode="numeric"
        unit={t`days`}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  return (
    <Select {...common} onChange={(event) => onChange(event.target.value)}>
      {Object.entries(input).map(([value, word]) => (
        <option key={value} value={value}>
          {t(word)}
        </option>
      ))}
    </Select>
  )
}

/** One of the groups; the present one also if there is none of its name. */
function GroupInput({ text, onChange, disabled }: Omit<SettingInputProps, 'kind'>) {
  const groups = useQuery(readAll('/api/groups'))
  const ids = groups.data?.items.map(({ id }) => id) ?? []
  return (
    <Select value={text} disabled={disabled} onChange={(event) => onChange(event.target.value)}>
      {[...new Set([text, ...ids])].map((id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </Select>
  )
}

/** A value in words, a text or a document as in the API. */
function wordOf(value: unknown, { input }: Kind, t: (word: MessageDescriptor) => string): string {
  if (input === 'switch') return t(value === true ? msg`On` : msg`Off`)
  if (input === 'days')
    return typeof value === 'number'
      ? t(msg`${plural(value, { one: '# day', other: '# days' })}`)
      : t(msg`For ever`)
  if (input === 'group') return String(value)
  if (input === 'notices') return t(msg`None`)
  const word = input[String(value)]
  return word === undefined ? String(value) : t(word)
}

function textOf({ value }: Setting, { input }: Kind): string {
  if (input === 'notices') return writeNotices(value)
  return value === null ? '' : String(value)
}

function valueOf(text: string, { input }: Kind): unknown {
  if (input === 'notices') return readNotices(text)
  if (input === 'switch') return text === 'true'
  if (input !== 'days') return text
  if (text.trim() === '') return null
  return /^\d+$/.test(text.trim()) ? Number(text) : text
}
