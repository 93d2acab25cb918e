// The form of the filters that are typed; its code is loaded when it is first opened.

import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useState } from 'react'
import { amountProblem, countProblem, creditBounds } from '../../ui/bounds.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { type MoreDraft, moreWords, streamedWords } from './more-words.ts'
import type { RequestsSearch } from './search.ts'

/** At most a day, which is the API's maximum. */
const latencyBounds = { least: 0, most: 86_400_000, isOptional: true }

interface MoreFormProps {
  readonly draft: MoreDraft
  readonly setDraft: (draft: MoreDraft) => void
  readonly currency: string
  readonly onChange: (next: Partial<RequestsSearch>) => void
}

export default function MoreForm({ draft, setDraft, currency, onChange }: MoreFormProps) {
  const { t } = useLingui()
  const [wrong, setWrong] = useState<{
    minCost?: string | undefined
    minLatencyMs?: string | undefined
  }>({})
  const field = (name: keyof MoreDraft) => ({
    value: draft[name],
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) =>
      setDraft({ ...draft, [name]: event.target.value }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    const { minCost, minLatencyMs, ...texts } = draft
    const found = {
      minCost: amountProblem(minCost, { ...creditBounds, isOptional: true }),
      minLatencyMs: countProblem(minLatencyMs, latencyBounds),
    }
    setWrong(found)
    if (Object.values(found).some((problem) => problem !== undefined)) return
    const given = Object.entries(texts).map(([name, value]) => [name, value.trim() || undefined])
    onChange({
      ...Object.fromEntries(given),
      minCost: minCost.trim() || undefined,
      minLatencyMs: minLatencyMs.trim() === '' ? undefined : Number(minLatencyMs),
    })
  }
  return (
    <form onSubmit={submit} className="flex w-72 flex-col gap-3 p-3">
      <Field label={t(moreWords.errorCode)}>
        <Input placeholder="insufficient_quota" {...field('errorCode')} />
      </Field>
      <Field label={t(moreWords.client)}>
        <Input placeholder="openai-python" {...field('client')} />
      </Field>
      <Field label={t(moreWords.id)}>
        <Input placeholder="req_…" {...field('id')} />
      </Field>
      <Field label={t(moreWords.vendorRequestId)}>
        <Input {...field('vendorRequestId')} />
      </Field>
      <Field label={t(moreWords.minCost)} error={wrong.minCost}>
        <Input inputMode="decimal" unit={currency} {...field('minCost')} />
      </Field>
      <Field label={t(moreWords.minLatencyMs)} error={wrong.minLatencyMs}>
        <Input inputMode="numeric" unit="ms" {...field('minLatencyMs')} />
      </Field>
      <Field label={t(moreWords.stream)}>
        <Select {...field('stream')}>
          <option value="">{t`Either`}</option>
          <option value="true">{t(streamedWords.true)}</option>
          <option value="false">{t(streamedWords.false)}</option>
        </Select>
      </Field>
      <Button type="submit" variant="primary">
        <Trans>Filter</Trans>
      </Button>
    </form>
  )
}
