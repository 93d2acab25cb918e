// Language, theme, density and time zone: stored in this browser.

import { Trans, useLingui } from '@lingui/react/macro'
import { type ReactNode, useId, useState } from 'react'
import { showLanguage } from '../../i18n.ts'
import { languageOf, setPreferences, usePreferences, useTimeZone } from '../../state/preferences.ts'
import { Field, Input, Segments } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Time } from '../../ui/values.tsx'

const zones = Intl.supportedValuesOf('timeZone')

/** Also by its alternative names, which the list leaves out: Asia/Kolkata is listed as Asia/Calcutta. */
function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export function Appearance() {
  const { t } = useLingui()
  const chosen = usePreferences()
  return (
    <Card title={<Trans>Appearance</Trans>}>
      <div className="flex flex-col items-start gap-5">
        <Choice name={t`Language`}>
          <Segments
            label={t`Language`}
            value={languageOf(chosen)}
            onChange={(language) => {
              setPreferences({ language })
              void showLanguage()
            }}
            options={[
              { value: 'en', label: 'English' },
              { value: 'zh-CN', label: '中文' },
            ]}
          />
        </Choice>
        <Choice name={t`Theme`}>
          <Segments
            label={t`Theme`}
            value={chosen.theme}
            onChange={(theme) => setPreferences({ theme })}
            options={[
              { value: 'system', label: t`As the system` },
              { value: 'light', label: t`Light` },
              { value: 'dark', label: t`Dark` },
            ]}
          />
        </Choice>
        <Choice name={t`Density of tables`}>
          <Segments
            label={t`Density of tables`}
            value={chosen.density}
            onChange={(density) => setPreferences({ density })}
            options={[
              { value: 'comfortable', label: t`Comfortable` },
              { value: 'compact', label: t`Compact` },
            ]}
          />
        </Choice>
        <Zone />
      </div>
    </Card>
  )
}

function Choice({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="text-label text-text-2">{name}</span>
      {children}
    </div>
  )
}

function Zone() {
  const list = useId()
  const zone = useTimeZone()
  const { timeZone } = usePreferences()
  const [text, setText] = useState(timeZone ?? '')
  const isKnown = text === '' || isZone(text)
  const [now] = useState(() => new Date().toISOString())
  function type(value: string) {
    setText(value)
    if (value === '') setPreferences({ timeZone: null })
    else if (isZone(value)) setPreferences({ timeZone: value })
  }
  return (
    <div className="w-full max-w-sm">
      <Field
        label={<Trans>Time zone</Trans>}
        hint={
          <Trans>
            Empty: the browser’s. Now in {zone}: <Time at={now} />
          </Trans>
        }
        error={isKnown ? undefined : <Trans>There is no time zone of this name.</Trans>}
      >
        <Input
          list={list}
          value={text}
          placeholder={zone}
          onChange={(event) => type(event.target.value)}
        />
      </Field>
      <datalist id={list}>
        <option value="UTC" />
        {zones.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  )
}
