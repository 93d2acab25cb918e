// The operators' notices as a form: how severe each is, its text in every language, and when it is shown.

import { Trans, useLingui } from '@lingui/react/macro'
import type { Shape } from '../../api/client.ts'
import { fromLocalInput, toLocalInput } from '../../app/range.ts'
import { useTimeZone } from '../../state/preferences.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { useAdding } from '../../ui/use-adding.ts'

type Notice = Shape<'Notice'>

/** As the server allows. */
const most = 20
const mostCharacters = 2_000
const empty: Notice = { severity: 'info', text: {}, from: null, until: null }

/** The list as a form keeps it: JSON text. */
export const writeNotices = (notices: unknown): string => JSON.stringify(notices)
export const readNotices = (json: string): readonly Notice[] => JSON.parse(json)

/** A time that is no moment yet, such as one whose year is half typed, is in the list as it was typed. */
export function haveTimes(notices: readonly Notice[]): boolean {
  return notices.every((notice) =>
    [notice.from, notice.until].every((at) => at === null || isMoment(at)),
  )
}

/** Typed texts have no zone. */
const isMoment = (text: string): boolean => text.endsWith('Z')

export function haveTexts(notices: readonly Notice[]): boolean {
  return notices.every(({ text }) => Object.keys(text).length > 0)
}

interface NoticesInputProps {
  readonly notices: readonly Notice[]
  readonly onChange: (notices: readonly Notice[]) => void
  readonly disabled: boolean
}

export function NoticesInput({ notices, onChange, disabled }: NoticesInputProps) {
  const adding = useAdding()
  return (
    <div className="flex flex-col gap-3">
      {notices.length > 0 && (
        <ol className="flex flex-col gap-3">
          {notices.map((notice, index) => (
            // A notice has no name but its place.
            <li key={index}>
              <NoticeFields
                notice={notice}
                number={index + 1}
                disabled={disabled}
                onChange={(changed) => onChange(notices.with(index, changed))}
                onRemove={() => adding.afterRemoving(() => onChange(notices.toSpliced(index, 1)))}
              />
            </li>
          ))}
        </ol>
      )}
      {!disabled && notices.length < most && (
        <Button
          ref={adding.ref}
          icon="plus"
          className="w-fit"
          onClick={() => onChange([...notices, empty])}
        >
          <Trans>Add a notice</Trans>
        </Button>
      )}
    </div>
  )
}

interface NoticeFieldsProps {
  readonly notice: Notice
  readonly number: number
  readonly disabled: boolean
  readonly onChange: (notice: Notice) => void
  readonly onRemove: () => void
}

function NoticeFields({ notice, number, disabled, onChange, onRemove }: NoticeFieldsProps) {
  const { t } = useLingui()
  const timeZone = useTimeZone()
  const time = (name: 'from' | 'until') => {
    const at = notice[name]
    return {
      type: 'datetime-local',
      disabled,
      value: at !== null && isMoment(at) ? toLocalInput(at, timeZone) : (at ?? ''),
      onChange: ({ target: { value } }: { readonly target: HTMLInputElement }) =>
        onChange({ ...notice, [name]: fromLocalInput(value, timeZone) ?? (value || null) }),
    } as const
  }
  return (
    <fieldset className="flex flex-col gap-3 rounded-control border border-border p-3">
      <legend className="px-1 text-label text-text-2">
        <Trans>Notice {number}</Trans>
      </legend>
      <div className="grid gap-3 md:grid-cols-3">
        <Field label={<Trans>Severity</Trans>}>
          <Select
            disabled={disabled}
            value={notice.severity}
            onChange={({ target }) =>
              onChange({ ...notice, severity: target.value as Notice['severity'] })
            }
          >
            <option value="info">{t`Notice`}</option>
            <option value="warning">{t`Warning`}</option>
            <option value="critical">{t`Critical`}</option>
          </Select>
        </Field>
        <Field
          label={<Trans>Shown from</Trans>}
          hint={<Trans>Left empty: at once. In the zone {timeZone}.</Trans>}
        >
          <Input {...time('from')} />
        </Field>
        <Field
          label={<Trans>Shown until</Trans>}
          hint={<Trans>Left empty: until it is removed.</Trans>}
        >
          <Input {...time('until')} />
        </Field>
      </div>
      <NoticeTexts
        text={notice.text}
        disabled={disabled}
        onChange={(text) => onChange({ ...notice, text })}
      />
      {!disabled && (
        <Button className="w-fit" aria-label={t`Remove notice ${number}`} onClick={onRemove}>
          <Trans>Remove</Trans>
        </Button>
      )}
    </fieldset>
  )
}

interface NoticeTextsProps {
  readonly text: Notice['text']
  readonly disabled: boolean
  readonly onChange: (text: Notice['text']) => void
}

/** The console's own languages, and others that the notice has. */
function NoticeTexts({ text, disabled, onChange }: NoticeTextsProps) {
  const { t } = useLingui()
  const words = new Map([
    ['en', t`Text in English`],
    ['zh-CN', t`Text in Chinese`],
  ])
  return [...new Set([...words.keys(), ...Object.keys(text)])].map((name) => (
    <Field key={name} label={words.get(name) ?? t`Text in ${name}`}>
      <TextArea
        rows={2}
        disabled={disabled}
        maxLength={mostCharacters}
        value={text[name] ?? ''}
        onChange={({ target }) => onChange(withText(text, name, target.value))}
      />
    </Field>
  ))
}

/** An empty text says nothing in its language, so that readers of it see another. */
function withText(text: Notice['text'], name: string, value: string): Notice['text'] {
  const { [name]: _, ...others } = text
  return value === '' ? others : { ...others, [name]: value }
}
