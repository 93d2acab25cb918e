// The settings of every request: system prompt, parameters and tools.

import { Trans, useLingui } from '@lingui/react/macro'
import { Checkbox, Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { efforts, type Settings } from './chat.ts'
import type { SettingsProblems, ToolsProblem } from './settings-problems.ts'

interface SettingsPanelProps {
  readonly settings: Settings
  readonly problems: SettingsProblems
  readonly onChange: (change: Partial<Settings>) => void
}

export function SettingsPanel({ settings, problems, onChange }: SettingsPanelProps) {
  const { t } = useLingui()
  return (
    <Card title={<Trans>Parameters</Trans>}>
      <div className="flex flex-col gap-3">
        <Field label={t`System prompt`}>
          <TextArea
            rows={4}
            value={settings.system}
            onChange={(event) => onChange({ system: event.target.value })}
          />
        </Field>
        <Parameters settings={settings} problems={problems} onChange={onChange} />
        <Field
          label={t`Tools`}
          hint={t`A JSON list, as the API takes it.`}
          error={problems.tools === null ? undefined : <ToolsError problem={problems.tools} />}
        >
          <TextArea
            rows={6}
            spellCheck={false}
            className="font-mono text-code"
            placeholder={toolExample}
            value={settings.tools}
            onChange={(event) => onChange({ tools: event.target.value })}
          />
        </Field>
      </div>
    </Card>
  )
}

function Parameters({ settings, problems, onChange }: SettingsPanelProps) {
  const { t } = useLingui()
  const between = (most: string) => t`A number from 0 to ${most}.`
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        <Field label={t`Temperature`} error={problems.temperature ? between('2') : undefined}>
          <Input
            inputMode="decimal"
            value={settings.temperature}
            onChange={(event) => onChange({ temperature: event.target.value })}
          />
        </Field>
        <Field label="Top P" error={problems.topP ? between('1') : undefined}>
          <Input
            inputMode="decimal"
            value={settings.topP}
            onChange={(event) => onChange({ topP: event.target.value })}
          />
        </Field>
        <Field
          label={t`Most tokens`}
          error={problems.maxTokens ? t`A whole number above 0.` : undefined}
        >
          <Input
            inputMode="numeric"
            value={settings.maxTokens}
            onChange={(event) => onChange({ maxTokens: event.target.value })}
          />
        </Field>
        <Field label={t`Reasoning effort`}>
          <Select
            value={settings.effort}
            onChange={(event) => onChange({ effort: event.target.value as Settings['effort'] })}
          >
            <option value="">{t`Default`}</option>
            {efforts.map((effort) => (
              <option key={effort} value={effort}>
                {effort}
              </option>
            ))}
          </Select>
        </Field>
      </div>
      <Field label={t`Stop at`} hint={t`One text a line.`}>
        <TextArea
          rows={2}
          className="font-mono"
          value={settings.stop}
          onChange={(event) => onChange({ stop: event.target.value })}
        />
      </Field>
      <Checkbox
        label={t`Answer in JSON`}
        checked={settings.json}
        onChange={(event) => onChange({ json: event.target.checked })}
      />
    </>
  )
}

function ToolsError({ problem }: { readonly problem: ToolsProblem }) {
  if (problem.kind === 'syntax')
    return (
      <Trans>
        This is not JSON: the error is in line {problem.line}, column {problem.column}.
      </Trans>
    )
  if (problem.kind === 'not-a-list') return <Trans>Write a list: [ … ]</Trans>
  return (
    <Trans>
      Tool {problem.at + 1} is none: it needs a "type", and a function a "function" with a "name".
    </Trans>
  )
}

const toolExample = `[{
  "type": "function",
  "function": {
    "name": "get_weather",
    "parameters": {
      "type": "object",
      "properties": {
        "city": { "type": "string" }
      }
    }
  }
}]`
