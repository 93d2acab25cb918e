// Chooses the span of time of a page: presets, or own bounds to the minute.

import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useState } from 'react'
import {
  fromLocalInput,
  presets,
  type Range,
  type RangeSearch,
  toLocalInput,
} from '../app/range.ts'
import { presetNames } from '../app/range-names.ts'
import { dateTime } from '../format.ts'
import { useTimeZone } from '../state/preferences.ts'
import { Button } from './button.tsx'
import { Field, Input } from './field.tsx'
import { Popover } from './popover.tsx'
import { Printed } from './printed.tsx'

interface RangePickerProps {
  readonly range: Range
  /** Writes it into the address. */
  readonly onChange: (search: Required<RangeSearch>) => void
}

export function RangePicker({ range, onChange }: RangePickerProps) {
  const { t, i18n } = useLingui()
  const zone = useTimeZone()
  const at = (text: string) => dateTime(text, i18n.locale, zone)
  const text =
    range.preset === null ? `${at(range.since)} – ${at(range.until)}` : t(presetNames[range.preset])
  return (
    <>
      <Popover label={t`Time range: ${text}`} icon="clock" text={text}>
        <div className="flex flex-col gap-3 p-3">
          <ul className="grid grid-cols-2 gap-1">
            {presets.map((preset) => (
              <li key={preset}>
                <Button
                  variant={preset === range.preset ? 'primary' : 'quiet'}
                  className="w-full"
                  aria-pressed={preset === range.preset}
                  onClick={() => onChange({ range: preset, since: undefined, until: undefined })}
                >
                  {t(presetNames[preset])}
                </Button>
              </li>
            ))}
          </ul>
          <OwnBounds
            key={`${range.preset ?? range.since} ${zone}`}
            range={range}
            onChange={onChange}
          />
        </div>
      </Popover>
      <Printed label={t`Time range`}>
        {at(range.since)} – {at(range.until)} ({zone})
      </Printed>
    </>
  )
}

function OwnBounds({ range, onChange }: RangePickerProps) {
  const zone = useTimeZone()
  const [since, setSince] = useState(() => toLocalInput(range.since, zone))
  const [until, setUntil] = useState(() => toLocalInput(range.until, zone))
  const [isWrong, setWrong] = useState(false)
  function submit(event: FormEvent) {
    event.preventDefault()
    const from = fromLocalInput(since, zone)
    const to = fromLocalInput(until, zone)
    const isRight = from !== null && to !== null && from < to
    setWrong(!isRight)
    if (isRight) onChange({ range: undefined, since: from, until: to })
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2 border-t border-border pt-3">
      <Field label={<Trans>From ({zone})</Trans>}>
        <Input
          type="datetime-local"
          value={since}
          onChange={(event) => setSince(event.target.value)}
        />
      </Field>
      <Field
        label={<Trans>To, not included</Trans>}
        error={
          isWrong ? (
            <Trans>The end must be after the start, and both from 1970 on.</Trans>
          ) : undefined
        }
      >
        <Input
          type="datetime-local"
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
      </Field>
      <Button type="submit">
        <Trans>Show this range</Trans>
      </Button>
    </form>
  )
}
